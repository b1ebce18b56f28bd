"""Collectives on a stream: called by all members of a team (team=None: all PEs) in the same order with the same sizes.
dest and source are symmetric and contiguous. They begin when all members have come; results are there when the stream
has passed (on the CPU machine with stream=None: on return). With a stream, tensors must live until it has passed.

Bad arguments are a ValueError. A PE with bad arguments takes part all the same, so that nobody waits for it; on the CPU
machine and in debug builds of the library the others get an error too, as do members that disagree.
"""
import operator
from typing import Any, Callable, Optional

from ._arrays import Memory, check_contiguous, describe
from ._machine import native
from ._streams import handle_of, run_on, take_part
from ._teams import Team, number_of
from ._world import require_initialized

_NUMBER_OPS, _INTEGER_OPS = ("sum", "prod", "min", "max"), ("and", "or", "xor")
_NOWHERE, _SOME = 8, 8  # no symmetric address, and an amount that would have to be there
# Queues an operation: of a team's number, dest, source and a stream.
_Queue = Callable[[int, Memory, Memory, int], None]


def _pair(dest: Any, source: Any, dest_parts: int, source_parts: int, members: int) -> "tuple[Memory, Memory]":
    to, fro = check_contiguous(describe(dest, "dest"), "dest"), check_contiguous(describe(source, "source"), "source")
    if to.dtype != fro.dtype:
        raise ValueError(f"source has elements of {fro.dtype.name}: must be of {to.dtype.name}, as dest")
    if to.elements * source_parts != fro.elements * dest_parts:
        wanted = {(1, 1): "as many", (members, 1): f"{members} times as many", (1, members): f"1/{members} as many"}
        raise ValueError(f"dest has {to.elements} elements, source {fro.elements}: dest must have "
                         f"{wanted[dest_parts, source_parts]} in a team of {members}")
    return to, fro


def _run(
    call: str,
    dest: Any,
    source: Any,
    team: Optional[Team],
    stream: Any,
    queue_it: _Queue,
    refuse: _Queue,
    dest_grows: bool = False,
    source_grows: bool = False,
    check: Callable[[Memory, int], None] = lambda to, members: None,
) -> None:
    """Checks and queues; with bad arguments queues `refuse`, with arguments that the library does not take."""
    require_initialized(call)
    number = number_of(team)
    members: int = native.team_n_pes(number)
    try:
        to, fro = _pair(dest, source, members if dest_grows else 1, members if source_grows else 1, members)
        check(to, members)
        handle_of(stream)
    except ValueError:
        take_part(stream, lambda queue: refuse(number, None, None, queue))  # type: ignore[arg-type]
        raise
    run_on(stream, lambda queue: queue_it(number, to, fro, queue))


def broadcast(dest: Any, source: Any, root: int = 0, team: Optional[Team] = None, stream: Any = None) -> None:
    """Copies `source` of the team's member `root` to `dest` of every member. Same sizes; in place is allowed."""

    def check(to: Memory, members: int) -> None:
        try:
            known = 0 <= operator.index(root) < members
        except TypeError:
            known = False
        if not known:
            raise ValueError(f"root is {root!r}: must be a member's number in the team, 0 to {members - 1}")

    _run(
        "broadcast",
        dest,
        source,
        team,
        stream,
        lambda team, to, fro, queue: native.broadcast(
            team, to.address, fro.address, to.bytes, operator.index(root), queue
        ),
        lambda team, to, fro, queue: native.broadcast(team, _NOWHERE, _NOWHERE, _SOME, 0, queue),
        check=check,
    )


def fcollect(dest: Any, source: Any, team: Optional[Team] = None, stream: Any = None) -> None:
    """Concatenates the members' `source` in member order in every `dest`, which has members times as many elements."""
    _run("fcollect", dest, source, team, stream,
         lambda team, to, fro, queue: native.fcollect(team, to.address, fro.address, fro.bytes, queue),
         lambda team, to, fro, queue: native.fcollect(team, _NOWHERE, _NOWHERE, _SOME, queue), dest_grows=True)


def alltoall(dest: Any, source: Any, team: Optional[Team] = None, stream: Any = None) -> None:
    """Part j of member i's `source` becomes part i of member j's `dest`. Both have members times a part; they do not
    overlap."""

    def check(to: Memory, members: int) -> None:
        if to.elements % members != 0:
            raise ValueError(f"dest has {to.elements} elements: must be a multiple of {members}, the team's members")

    _run(
        "alltoall",
        dest,
        source,
        team,
        stream,
        lambda team, to, fro, queue: native.alltoall(
            team, to.address, fro.address, to.bytes // native.team_n_pes(team), queue
        ),
        lambda team, to, fro, queue: native.alltoall(team, _NOWHERE, _NOWHERE, _SOME, queue),
        check=check,
    )


def _check_op(op: Any, memory: Memory) -> None:
    name = memory.dtype.name
    integer = "int" in name
    number = integer or "float" in name and memory.dtype.bits > 8
    if not (op in _NUMBER_OPS and number or op in _INTEGER_OPS and integer):
        raise ValueError(
            f"op is {op!r} on {name}: must be one of {', '.join(_NUMBER_OPS)} on integers and floating-point "
            f"numbers of 16 bits or more, {', '.join(_INTEGER_OPS)} on integers"
        )


def reduce(dest: Any, source: Any, op: str = "sum", team: Optional[Team] = None, stream: Any = None) -> None:
    """Combines the members' `source`, element by element, into every `dest`: the same bits everywhere. Same sizes; in
    place is allowed. op: sum, prod, min, max; for integers also and, or, xor. float16 and bfloat16 are combined in
    float32."""
    _run(
        "reduce",
        dest,
        source,
        team,
        stream,
        lambda team, to, fro, queue: native.reduce(
            op, to.dtype.name, team, to.address, fro.address, to.elements, queue
        ),
        lambda team, to, fro, queue: native.reduce("sum", "int64", team, _NOWHERE, _NOWHERE, _SOME, queue),
        check=lambda to, members: _check_op(op, to),
    )


def reducescatter(dest: Any, source: Any, op: str = "sum", team: Optional[Team] = None, stream: Any = None) -> None:
    """reduce() of `source`, whose part k goes to member k's `dest`: source has members times the elements of dest."""
    _run(
        "reducescatter",
        dest,
        source,
        team,
        stream,
        lambda team, to, fro, queue: native.reducescatter(
            op, to.dtype.name, team, to.address, fro.address, to.elements, queue
        ),
        lambda team, to, fro, queue: native.reducescatter("sum", "int64", team, _NOWHERE, _NOWHERE, _SOME, queue),
        source_grows=True,
        check=lambda to, members: _check_op(op, to),
    )
