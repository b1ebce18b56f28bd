"""Put, get, signals and order. All are queued on a stream and return at once; with stream=None the stream is the
current one of PyTorch or CuPy (else the default stream), and on the CPU machine the call returns when it is done. With
a stream, tensors must live until the stream has passed."""
from typing import Any, Callable

from ._arrays import Memory, check_contiguous, describe
from ._machine import native
from ._streams import handle_of, run_on, take_part
from ._tensor import check_pe
from ._teams import Team, number_of
from ._world import require_initialized


def _pair(call: str, dest: Any, source: Any) -> "tuple[Memory, Memory]":
    require_initialized(call)
    to, fro = check_contiguous(describe(dest, "dest"), "dest"), check_contiguous(describe(source, "source"), "source")
    if to.dtype != fro.dtype:
        raise ValueError(f"source has elements of {fro.dtype.name}: must be of {to.dtype.name}, as dest")
    if to.elements != fro.elements:
        raise ValueError(f"source has {fro.elements} elements: must have {to.elements}, as dest")
    return to, fro


def _check_symmetric(memory: Memory, argument: str) -> Memory:
    last = memory.address + max(memory.bytes, 1) - 1
    own = native.my_pe()
    if native.peer_address(memory.address, own) == 0 or native.peer_address(last, own) == 0:
        raise ValueError(
            f"{argument} at {memory.address:#x} ({memory.bytes} bytes): must be symmetric memory of this PE, of "
            "causeway.zeros or causeway.empty"
        )
    return memory


def _signal_word(signal: Any) -> Memory:
    word = _check_symmetric(describe(signal, "signal"), "signal")
    if word.dtype.name not in ("uint64", "int64") or word.elements != 1:
        raise ValueError(f"signal has {word.elements} elements of {word.dtype.name}: must be one of uint64 or int64")
    return word


def _operation(op: str) -> int:
    found = {"set": native.SIGNAL_SET, "add": native.SIGNAL_ADD}.get(op)
    if found is None:
        raise ValueError(f"op is {op!r}: must be 'set' or 'add'")
    return found


def _value(value: int) -> int:
    if not isinstance(value, int) or not 0 <= value < 2**64:
        raise ValueError(f"value is {value!r}: must be 0 to 2**64 - 1")
    return value


def put(dest: Any, source: Any, pe: int, stream: Any = None) -> None:
    """Copies `source` to `dest` at PE `pe`. Not collective: `pe` takes no part.

    dest: symmetric; source: any tensor of the same type and number of elements. Delivered after quiet() or a barrier on
    the same stream. source may be changed when the stream has passed.
    """
    to, fro = _pair("put", dest, source)
    _check_symmetric(to, "dest")
    check_pe(pe)
    run_on(stream, lambda queue: native.put(to.address, fro.address, to.bytes, pe, queue))


def get(dest: Any, source: Any, pe: int, stream: Any = None) -> None:
    """Copies `source` at PE `pe` to `dest`. Not collective: `pe` takes no part.

    source: symmetric; dest: any tensor of the same type and number of elements, filled when the stream has passed.
    """
    to, fro = _pair("get", dest, source)
    _check_symmetric(fro, "source")
    check_pe(pe)
    run_on(stream, lambda queue: native.get(to.address, fro.address, to.bytes, pe, queue))


def put_signal(dest: Any, source: Any, signal: Any, value: int, pe: int, op: str = "set", stream: Any = None) -> None:
    """put(), then `signal` at PE `pe` is set to `value`, or `value` is added (op="add"): who sees the signal sees the
    data.

    signal: a symmetric tensor of one uint64 (or int64). Not collective.
    """
    to, fro = _pair("put_signal", dest, source)
    _check_symmetric(to, "dest")
    check_pe(pe)
    word, operation, number = _signal_word(signal), _operation(op), _value(value)
    run_on(
        stream,
        lambda queue: native.put_signal(to.address, fro.address, to.bytes, word.address, number, operation, pe, queue),
    )


def signal(signal: Any, value: int, pe: int, op: str = "set", stream: Any = None) -> None:
    """Sets `signal` at PE `pe` to `value`, or adds it (op="add"). Ordered behind nothing but by quiet(). Not
    collective."""
    require_initialized("signal")
    word, operation, number = _signal_word(signal), _operation(op), _value(value)
    check_pe(pe)
    run_on(stream, lambda queue: native.signal(word.address, number, operation, pe, queue))


def signal_wait(signal: Any, value: int, cmp: str = "ge", stream: Any = None) -> None:
    """The stream waits until this PE's own `signal` compares so (eq, ne, gt, ge, lt, le) with `value`; the data that
    came with it are then there. Waits for ever if the signal never comes, unless CAUSEWAY_WAIT_TIMEOUT is set."""
    require_initialized("signal_wait")
    word, number = _signal_word(signal), _value(value)
    if cmp not in native.COMPARISONS:
        raise ValueError(f"cmp is {cmp!r}: must be one of {', '.join(native.COMPARISONS)}")
    run_on(stream, lambda queue: native.signal_wait(word.address, native.COMPARISONS[cmp], number, queue))


def quiet(stream: Any = None) -> None:
    """Completes what the stream did before: it is delivered everywhere when the stream has passed. Not collective."""
    require_initialized("quiet")
    run_on(stream, native.quiet)


def _meet(call: str, team: "Team | None", stream: Any, meet: Callable[[int, int], None]) -> None:
    require_initialized(call)
    number = number_of(team)
    try:
        handle_of(stream)
    except ValueError:
        take_part(None, lambda queue: meet(number, queue))
        raise
    run_on(stream, lambda queue: meet(number, queue))


def barrier(team: "Team | None" = None, stream: Any = None) -> None:
    """Completes what the members' streams did before, and meets. Called by all members (team=None: by all PEs)."""
    _meet("barrier", team, stream, native.barrier)


def sync(team: "Team | None" = None, stream: Any = None) -> None:
    """Meets, and shows earlier stores, without completing other operations. Called by all members."""
    _meet("sync", team, stream, native.sync)
