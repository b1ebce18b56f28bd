"""Every function of module `causeway` against a plain model. Run as: causeway run -n 4 python
tests/python/core_test.py"""
import functools

import numpy as np
from common import from_bf16, main, raises, require, same, to_bf16

import causeway
from causeway._machine import native
from causeway._streams import current_stream

NUMBERS = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
OPS = {
    "sum": np.add,
    "prod": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def given(pe: int, shape, dtype: str) -> np.ndarray:
    """What PE `pe` has: every PE can compute it. Small integers, exact in every type."""
    return np.random.default_rng([pe, 7]).integers(1, 5, shape).astype(dtype)


def filled(values: np.ndarray, dtype=None) -> causeway.SymmetricTensor:
    tensor = causeway.empty(values.shape, dtype or values.dtype)
    tensor.write(values.tobytes())
    return tensor


def content(tensor: causeway.SymmetricTensor, dtype=None) -> np.ndarray:
    return np.frombuffer(tensor.read(), dtype or tensor.dtype).reshape(tensor.shape)


def test_tensors(me: int, pes: int) -> None:
    for dtype in NUMBERS + ["bool", "bfloat16", "float8_e4m3fn"]:
        tensor = causeway.zeros((3, 5), dtype)
        require(tensor.shape == (3, 5) and tensor.dtype == dtype and tensor.numel == 15, repr(tensor))
        require(set(tensor.read()) == {0}, f"zeros of {dtype}")
        tensor.free()
    nothing = causeway.empty((0, 4))
    require(nothing.nbytes == 0 and nothing.read() == b"", "a tensor without elements")
    nothing.free()
    tensor = filled(given(me, (4, 6), "int32"))
    causeway.barrier()
    for pe in range(pes):
        same(content(tensor.peer(pe)), given(pe, (4, 6), "int32"), f"memory of PE {pe}")
    causeway.barrier()
    raises(ValueError, f"pe is {pes}: must be 0 to {pes - 1}", lambda: tensor.peer(pes))
    raises(ValueError, "content has 3 bytes: must have 96", lambda: tensor.write(b"abc"))
    raises(ValueError, "free.. of a view", lambda: tensor.peer(0).free())
    raises(ValueError, "dtype is 'float17': must be one of", lambda: causeway.zeros(3, "float17"))
    raises(ValueError, r"shape is \[-1\]", lambda: causeway.zeros(-1))
    raises(ValueError, r"shape is 1.5: must be an integer or a sequence", lambda: causeway.zeros(1.5))
    if causeway.n_pes() > 1:  # one PE alone is wrong
        raises(ValueError if me == 0 else RuntimeError, r"shape is \[-1\]" if me == 0 else "memory calls differ",
               lambda: causeway.zeros(-1 if me == 0 else 7))
        raises(ValueError if me == 0 else RuntimeError, "fits into no memory" if me == 0 else "memory calls differ",
               lambda: causeway.zeros((2**40, 2**40) if me == 0 else 7))
        raises(ValueError if me == 0 else RuntimeError, "" if me == 0 else "memory calls differ",
               lambda: causeway.empty(7, "none" if me == 0 else "float32"))
    if causeway.machine == "cpu":
        view = tensor.numpy()
        view[0, 0] = 99
        same(content(tensor)[0, 0], 99, "a write through a view")
        same(np.from_dlpack(tensor), view, "DLPack")
        same(np.asarray(tensor), view, "array interface")
        half = causeway.zeros(4, "bfloat16")
        half.numpy()[:] = to_bf16(np.full(4, 1.5))
        same(content(half, np.uint16), to_bf16(np.full(4, 1.5)), "bfloat16 as bits")
        half.free()
    causeway.barrier()
    tensor.free()
    raises(RuntimeError, "has been freed", lambda: tensor.read())


def test_put_get(me: int, pes: int, stream) -> None:
    right, left = (me + 1) % pes, (me - 1) % pes
    source, inbox = filled(given(me, 1000, "float32")), causeway.zeros(1000)
    causeway.put(inbox, source, right, stream=stream)
    causeway.barrier(stream=stream)
    causeway.synchronize(stream)
    same(content(inbox, np.float32), given(left, 1000, "float32"), "put")
    outbox = causeway.zeros(1000)
    causeway.get(outbox, source, right, stream=stream)
    causeway.synchronize(stream)
    same(content(outbox), given(right, 1000, "float32"), "get")
    causeway.put(inbox, outbox, left, stream=stream)
    causeway.quiet(stream)
    causeway.sync(stream=stream)
    causeway.synchronize(stream)
    same(content(inbox), given((me + 2) % pes, 1000, "float32"), "put, quiet, sync")
    causeway.barrier(stream=stream)
    causeway.synchronize(stream)
    if causeway.machine == "cpu":
        local = given(me, 10, "int64")
        part = causeway.zeros(30, "int64")
        causeway.put(part.numpy()[10:20], local, right, stream=stream)
        causeway.barrier(stream=stream)
        causeway.synchronize(stream)
        same(content(part), np.concatenate([np.zeros(10), given(left, 10, "int64"), np.zeros(10)]), "put into a part")
        part.free()
    for tensor in (source, inbox, outbox):
        tensor.free()


def test_signals(me: int, pes: int, stream) -> None:
    right, left = (me + 1) % pes, (me - 1) % pes
    inbox, flag = causeway.zeros(64, "int32"), causeway.zeros(1, "uint64")
    source = filled(given(me, 64, "int32"))
    causeway.put_signal(inbox, source, flag, 5, right, stream=stream)
    causeway.signal_wait(flag, 5, "eq", stream=stream)
    causeway.synchronize(stream)
    same(content(inbox), given(left, 64, "int32"), "data with the signal")
    causeway.barrier(stream=stream)
    causeway.put_signal(inbox, source, flag, 2, right, op="add", stream=stream)
    causeway.signal(flag, 3, right, op="add", stream=stream)
    causeway.signal_wait(flag, 10, "ge", stream=stream)
    causeway.synchronize(stream)
    same(content(flag)[0], 10, "added signals")
    causeway.barrier(stream=stream)
    causeway.synchronize(stream)
    for tensor in (inbox, flag, source):
        tensor.free()


def check_collectives(team, members, me: int, stream) -> None:
    """Of a team whose members are the world's PEs `members`; None: the world."""
    n, mine = len(members), members.index(me)
    for dtype in ("int32", "float64", "uint8"):
        mine_in, out = filled(given(me, 24 * n, dtype)), filled(np.zeros(24 * n, dtype))
        whole = filled(np.zeros(24 * n * n, dtype))
        causeway.broadcast(out, mine_in, root=n - 1, team=team, stream=stream)
        causeway.synchronize(stream)
        same(content(out), given(members[-1], 24 * n, dtype), "broadcast")
        causeway.fcollect(whole, mine_in, team=team, stream=stream)
        causeway.synchronize(stream)
        same(content(whole), np.concatenate([given(pe, 24 * n, dtype) for pe in members]), "fcollect")
        causeway.alltoall(out, mine_in, team=team, stream=stream)
        causeway.synchronize(stream)
        same(
            content(out), np.concatenate([given(pe, 24 * n, dtype).reshape(n, 24)[mine] for pe in members]), "alltoall"
        )
        causeway.barrier(team, stream=stream)
        causeway.sync(team, stream=stream)
        causeway.synchronize(stream)
        if team is None:
            for tensor in (mine_in, out, whole):
                tensor.free()


def test_reductions(me: int, pes: int) -> None:
    for dtype in NUMBERS + ["bfloat16"]:
        for op, function in OPS.items():
            if op in ("and", "or", "xor") and "int" not in dtype:
                continue
            held = "float32" if dtype == "bfloat16" else dtype
            all_given = [given(pe, 12 * pes, held) for pe in range(pes)]
            wanted = functools.reduce(function, all_given).astype(held)
            source = filled(to_bf16(all_given[me]) if dtype == "bfloat16" else all_given[me], dtype)
            out, part = causeway.zeros(12 * pes, dtype), causeway.zeros(12, dtype)
            causeway.reduce(out, source, op)
            causeway.reducescatter(part, source, op)
            got, got_part = (
                from_bf16(content(t, np.uint16)) if dtype == "bfloat16" else content(t) for t in (out, part)
            )
            same(got, wanted, f"{op} of {dtype}")
            same(got_part, wanted.reshape(pes, 12)[me], f"reducescatter, {op} of {dtype}")
            causeway.reduce(source, source, op)
            same(
                content(source, np.uint16 if dtype == "bfloat16" else None),
                content(out, np.uint16 if dtype == "bfloat16" else None),
                f"{op} of {dtype} in place",
            )
            for tensor in (source, out, part):
                tensor.free()


def test_teams(me: int, pes: int) -> None:
    require((causeway.world.my_pe, causeway.world.n_pes) == (me, pes), "the world")
    require(0 <= causeway.node.my_pe < causeway.node.n_pes <= pes, "the node")
    for start, stride in ((0, 1), (0, 2), (1, 2)):
        members = list(range(start, pes, stride))
        if not members:
            continue
        team = causeway.world.split_strided(start, stride, len(members))
        require((team is not None) == (me in members), "who is a member")
        check_members(team, members, me)
    rows, columns = causeway.world.split_2d(2 if pes > 1 else 1)
    width = 2 if pes > 1 else 1
    require(rows.my_pe == me % width and columns.my_pe == me // width, "row and column")
    for team in (rows, columns):
        team.destroy()
    raises(ValueError, "predefined", causeway.world.destroy)
    raises(ValueError, "PE_size|size", lambda: causeway.world.split_strided(0, 1, pes + 1))
    raises(ValueError, "pe is 99", lambda: causeway.world.translate(99, causeway.world))
    raises(ValueError, "pe is 'a'", lambda: causeway.world.translate("a", causeway.world))
    raises(ValueError, "to is a int: must be a causeway.Team", lambda: causeway.world.translate(0, 0))


def check_members(team, members, me: int) -> None:
    if team is not None:
        require((team.my_pe, team.n_pes) == (members.index(me), len(members)), "numbers in the team")
        same([team.translate(i, causeway.world) for i in range(team.n_pes)], members, "translation")
    # Memory is the world's, so all PEs make it; the collectives are the members'.
    n = len(members)
    source, out = filled(given(me, 8 * n, "int64")), causeway.zeros(8 * n * n, "int64")
    if team is not None:
        causeway.fcollect(out, source, team=team)
        same(content(out), np.concatenate([given(pe, 8 * n, "int64") for pe in members]), "fcollect of a team")
        causeway.reduce(source, source, "sum", team=team)
        same(content(source), sum(given(pe, 8 * n, "int64") for pe in members), "reduce of a team")
        team.destroy()
        raises(ValueError, "team has been destroyed", lambda: causeway.barrier(team))
    causeway.barrier()
    source.free(), out.free()


def test_errors(me: int, pes: int) -> None:
    a, b, short, flag = causeway.zeros(8), causeway.zeros(8), causeway.zeros(1), causeway.zeros(1, "uint64")
    raises(ValueError, f"pe is {pes}", lambda: causeway.put(a, b, pes))
    raises(ValueError, "pe is -1", lambda: causeway.get(a, b, -1))
    raises(ValueError, "source has elements of uint64: must be of float32", lambda: causeway.put(a, flag, 0))
    raises(ValueError, "dest is a list", lambda: causeway.put([1, 2], b, 0))
    raises(ValueError, "op is 'mul'", lambda: causeway.put_signal(a, b, flag, 1, 0, op="mul"))
    raises(ValueError, "signal has 8 elements of float32", lambda: causeway.signal(a, 1, 0))
    raises(ValueError, "value is -1", lambda: causeway.signal(flag, -1, 0))
    raises(ValueError, "value is 'one'", lambda: causeway.signal(flag, "one", 0))
    raises(ValueError, "cmp is 'like'", lambda: causeway.signal_wait(flag, 1, "like"))
    raises(ValueError, "stream is a str", lambda: causeway.quiet("now"))
    raises(ValueError, "team is a int", lambda: causeway.barrier(0))
    raises(ValueError, "op is 'and' on float32", lambda: causeway.reduce(a, b, "and"))
    raises(ValueError, "root is 77: must be .*0 to", lambda: causeway.broadcast(a, b, root=77))
    raises(ValueError, "dest has 8 elements, source 1", lambda: causeway.reduce(a, short))
    if causeway.machine == "cpu":
        raises(ValueError, "dest at .*must be symmetric", lambda: causeway.put(np.zeros(8, np.float32), b, 0))
        raises(ValueError, "not contiguous", lambda: causeway.put(a.numpy()[::2], b.numpy()[::2], 0))
        raises(ValueError, "source is .*must lie in", lambda: causeway.reduce(a, np.zeros(8, np.float32)))
        if pes > 1:  # one PE is wrong: the others learn of it and nobody waits
            wrong = np.zeros(3, np.float32) if me == 0 else b
            raises(ValueError if me == 0 else RuntimeError, "dest has 8" if me == 0 else "PEs 0 and .*different",
                   lambda: causeway.reduce(a, wrong))
            raises(RuntimeError, "differ between PEs", lambda: causeway.zeros(10 + me))
            other = {"root": "x"} if me == 0 else {}
            raises(ValueError if me == 0 else RuntimeError, "root is 'x': must be" if me == 0 else "",
                   lambda: causeway.broadcast(a, b, **other))
            other = {"stream": "now"} if me == 0 else {}
            raises(ValueError if me == 0 else RuntimeError, "stream is a str" if me == 0 else "",
                   lambda: causeway.reduce(a, b, **other))
            raises(ValueError, "start, stride and size are 0, 1, 'all'" if me == 0 else "",
                   lambda: causeway.world.split_strided(0, 1, "all" if me == 0 else pes))
            raises(ValueError, "xrange is None: must be" if me == 0 else "",
                   lambda: causeway.world.split_2d(None if me == 0 else 1))
        raises(ValueError, "stream is a str", lambda: causeway.barrier(stream="now"))
    for _ in range(3):  # the same mistake is told each time
        raises(ValueError, "pe is 99: must be 0 to", lambda: native.put(a.address, b.address, 4, 99, current_stream()))
    causeway.barrier()
    causeway.reduce(a, b)  # all is well afterwards
    for tensor in (a, b, short, flag):
        tensor.free()


def body() -> None:
    raises(RuntimeError, "before causeway.init", causeway.my_pe)
    raises(ValueError, "unique_id is given", lambda: causeway.init(unique_id=b"x"))
    causeway.init()
    causeway.init()
    me, pes = causeway.my_pe(), causeway.n_pes()
    causeway.synchronize()
    test_tensors(me, pes)
    stream = causeway.Stream()
    for where in (None, stream, stream.cuda_stream):
        test_put_get(me, pes, where)
        test_signals(me, pes, where)
        check_collectives(None, list(range(pes)), me, where)
    test_reductions(me, pes)
    test_teams(me, pes)
    test_errors(me, pes)
    event = causeway.Event().record(stream)
    event.synchronize()
    require(event.is_done(), "an event that has been waited for")
    kept = causeway.zeros(1)
    causeway.finalize()
    raises(RuntimeError, "left by finalize", lambda: kept.address)
    raises(RuntimeError, "after causeway.finalize", causeway.n_pes)
    print(f"core, PE {me} of {pes}: ok", flush=True)


if __name__ == "__main__":
    main(body)
