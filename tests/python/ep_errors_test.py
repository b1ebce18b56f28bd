"""Bad input to causeway.ep.Buffer: an error on every rank that is concerned, naming the argument and the limit; and all
is well afterwards. Run as: causeway run -n 2 python tests/python/ep_errors_test.py, on the CPU machine, where all
errors reach their call.
"""
import gc
import resource
import sys

import numpy as np
from common import main, raises, require, same

import causeway
from causeway.ep import Buffer, Config, EventOverlap

if causeway.machine != "cpu":
    sys.exit("ep_errors_test: CAUSEWAY_MACHINE must be cpu")

HIDDEN, TOPK, TOKENS, RECEIVED = 256, 2, 8, 40


def bf16(*shape):
    return np.full(shape, 0x3F80, np.uint16)  # ones


def routes(experts: int, tokens: int = TOKENS):
    return np.random.default_rng(3).integers(0, experts, (tokens, TOPK)).astype(np.int64)


def works(buffer: Buffer, experts: int) -> None:
    idx = np.tile(np.array([[0, experts - 1]], np.int64), (TOKENS, 1))[:, -buffer.limits.topk:].copy()
    recv_x, _, _, _, handle, _ = buffer.dispatch(bf16(TOKENS, HIDDEN), topk_idx=idx)
    combined, _, _ = buffer.combine(recv_x, handle)
    ranks = len(set(idx[0] // (experts // buffer.group_size)))
    same(combined, np.full((TOKENS, HIDDEN), {1: 0x3F80, 2: 0x4000}[ranks]), "a good call after bad ones")


def unmade() -> None:
    """What a constructor has left that raised, or never began, goes without a word."""
    said = []
    before, sys.unraisablehook = sys.unraisablehook, lambda what: said.append(f"{what.object}: {what.exc_value!r}")
    try:
        raises(TypeError, "unexpected keyword argument", lambda: Buffer(no_such_argument=1))
        raises(ValueError, "group is a str", lambda: Buffer("world"))
        raises(ValueError, "num_nvl_bytes is 1000", lambda: Buffer(num_nvl_bytes=1000))
        Buffer.__new__(Buffer).destroy()
        gc.collect()
    finally:
        sys.unraisablehook = before
    require(not said, f"said by an end: {said}")


def making(me: int, pes: int) -> None:
    unmade()
    raises(ValueError, "num_nvl_bytes is 0: must be", Buffer)
    raises(ValueError, "num_nvl_bytes is 1000: must be at least", lambda: Buffer(num_nvl_bytes=1000))
    raises(ValueError, "low_latency_mode is True: num_max_dispatch", lambda: Buffer(low_latency_mode=True))
    raises(ValueError, "num_rdma_bytes is 5: must be at least",
           lambda: Buffer(None, 0, 5, True, num_max_dispatch_tokens_per_rank=8, num_experts=pes, hidden=128))
    raises(ValueError, "hidden_max is 100: must be", lambda: Buffer(num_max_recv_tokens=9, hidden=100))
    if pes > 1:
        raises(ValueError, "num_max_recv_tokens is 9 on rank 0 and 10 on rank 1",
               lambda: Buffer(num_max_recv_tokens=min(9 + me, 10), hidden=128))
        raises(ValueError, "num_nvl_bytes is 1" if me == 0 else "rank 0 made the Buffer with bad arguments",
               lambda: Buffer(num_nvl_bytes=1 if me == 0 else 1 << 24, hidden=128))
    raises(ValueError, "new_num_sms is 3", lambda: Buffer.set_num_sms(3))
    raises(ValueError, "event is None", EventOverlap().current_stream_wait)
    size = Config().get_nvl_buffer_size_hint(256 * 2, pes)
    buffer = Buffer(None, size, num_topk=TOPK, num_experts=4 * pes)
    require(
        buffer.limits.hidden == 256 and buffer.limits.recv_tokens >= 4096 * pes, f"limits by the hint: {buffer.limits}"
    )
    works(buffer, 4 * pes)
    buffer.destroy()
    size = Buffer.get_low_latency_rdma_size_hint(16, 256, pes, 4 * pes)
    buffer = Buffer(None, 0, size, low_latency_mode=True, num_qps_per_rank=4)
    limits = buffer.limits
    require(
        (limits.hidden, limits.low_latency_tokens, limits.experts) == (256, 16, 4 * pes),
        f"low latency by hint: {limits}",
    )
    buffer.clean_low_latency_buffer(16, 256, 4 * pes)
    buffer.destroy()
    # Both modes, each with what was asked for it: there is room for the longer rows.
    for longer in (512, 128):
        nvl = Config().get_nvl_buffer_size_hint(longer * 2, pes)
        rdma = Buffer.get_low_latency_rdma_size_hint(16, 256, pes, 4 * pes)
        buffer = Buffer(None, nvl, rdma, low_latency_mode=True, num_topk=TOPK)
        require(buffer.limits.hidden == max(longer, 256), f"room for both modes: {buffer.limits}")
        works(buffer, 4 * pes)
        buffer.destroy()
    raises(RuntimeError, "has been destroyed", lambda: works(buffer, 4 * pes))


def arguments(me: int, pes: int, buffer: Buffer, experts: int) -> None:
    """The same mistake on all ranks."""
    x, idx = bf16(TOKENS, HIDDEN), routes(experts)
    for pattern, call in (
        ("x has elements of float32: must be of bfloat16", lambda: buffer.dispatch(x.astype(np.float32), topk_idx=idx)),
        (r"x has the shape \[8\]", lambda: buffer.dispatch(x[:, 0].copy(), topk_idx=idx)),
        (
            "x has hidden 512: must be a multiple of 8 up to the buffer's 256",
            lambda: buffer.dispatch(bf16(TOKENS, 512), topk_idx=idx),
        ),
        ("x has hidden 252: must be a multiple of 8", lambda: buffer.dispatch(bf16(TOKENS, 252), topk_idx=idx)),
        ("x of shape .* is not contiguous", lambda: buffer.dispatch(bf16(TOKENS, 512)[:, ::2], topk_idx=idx)),
        ("x is a list", lambda: buffer.dispatch([1.0], topk_idx=idx)),
        ("topk_idx is None", lambda: buffer.dispatch(x)),
        ("topk_idx has elements of int32: must be of int64", lambda: buffer.dispatch(x, topk_idx=idx.astype(np.int32))),
        (r"topk_idx has the shape \[7, 2\].*\[8, any\]", lambda: buffer.dispatch(x, topk_idx=idx[:7])),
        ("topk.* is 3: must be .*2", lambda: buffer.dispatch(x, topk_idx=np.zeros((TOKENS, 3), np.int64))),
        (
            "topk_weights has the shape",
            lambda: buffer.dispatch(x, topk_idx=idx, topk_weights=np.ones((8, 1), np.float32)),
        ),
        ("topk_idx .*has an entry", lambda: buffer.dispatch(x, topk_idx=np.full((TOKENS, TOPK), experts, np.int64))),
        ("topk_idx .*has an entry", lambda: buffer.dispatch(x, topk_idx=np.full((TOKENS, TOPK), -2, np.int64))),
        ("num_worst_tokens is 1000: must be 0 to 40", lambda: buffer.dispatch(x, topk_idx=idx, num_worst_tokens=1000)),
        ("expert_alignment is 0: must be 1", lambda: buffer.dispatch(x, topk_idx=idx, expert_alignment=0)),
        ("expert_alignment is 2147483648: must be", lambda: buffer.dispatch(x, topk_idx=idx, expert_alignment=2**31)),
        ("expert_alignment is a float: must be", lambda: buffer.dispatch(x, topk_idx=idx, expert_alignment=1.5)),
        ("num_worst_tokens is a NoneType: must be", lambda: buffer.dispatch(x, topk_idx=idx, num_worst_tokens=None)),
        (
            r"num_tokens_per_rank has the shape \[3[0-9]\]",
            lambda: buffer.dispatch(x, topk_idx=idx, num_tokens_per_rank=np.zeros(pes + 30, np.int32)),
        ),
        (
            "is_token_in_rank has elements of int32: must be of bool",
            lambda: buffer.dispatch(x, topk_idx=idx, is_token_in_rank=np.zeros((TOKENS, pes), np.int32)),
        ),
        (
            "num_tokens_per_rdma_rank has the shape",
            lambda: buffer.internode_dispatch(x, topk_idx=idx, num_tokens_per_rdma_rank=np.zeros(9, np.int32)),
        ),
        ("config is a int", lambda: buffer.dispatch(x, topk_idx=idx, config=3)),
        ("num_experts is 0: must be", lambda: buffer.get_dispatch_layout(idx, 0)),
        ("num_experts is a str: must be", lambda: buffer.get_dispatch_layout(idx, "8")),
        ("allocate_on_comm_stream is True", lambda: buffer.dispatch(x, topk_idx=idx, allocate_on_comm_stream=True)),
        ("handle is a int", lambda: buffer.dispatch(x, handle=3)),
        ("handle is a tuple", lambda: buffer.combine(x, ())),
        ("made with low_latency_mode False", lambda: buffer.low_latency_dispatch(x, idx, 8, experts)),
    ):
        raises(ValueError, pattern, call)
    if pes > 1:
        raises(ValueError, "experts is .*multiple of",
               lambda: buffer.dispatch(x, topk_idx=idx, num_tokens_per_expert=np.zeros(experts - 1, np.int32)))
    many = np.zeros((60, TOPK), np.int64)
    raises(
        RuntimeError, "would receive .*recv_tokens_max is 40", lambda: buffer.dispatch(bf16(60, HIDDEN), topk_idx=many)
    )
    raises(RuntimeError, "would receive more rows than it has room",
           lambda: buffer.dispatch(x, topk_idx=many[:TOKENS], num_worst_tokens=1))
    works(buffer, experts)


def one_rank_is_wrong(me: int, pes: int, buffer: Buffer, experts: int) -> None:
    """The others learn of it."""
    x, idx = bf16(TOKENS, HIDDEN), routes(experts)
    for wrong in range(min(pes, 2)):
        bad = me == wrong
        raises(ValueError, "x has elements of float32" if bad else f"rank {wrong}",
               lambda: buffer.dispatch(x.astype(np.float32) if bad else x, topk_idx=idx))
        raises(ValueError, "topk_idx .*has an entry" if bad else f"rank {wrong}",
               lambda: buffer.dispatch(x, topk_idx=np.full((TOKENS, TOPK), 99999, np.int64) if bad else idx))
        recv_x, _, _, _, handle, _ = buffer.dispatch(x, topk_idx=idx)
        good = np.ascontiguousarray(recv_x)
        raises(ValueError if bad else RuntimeError, r"x has the shape" if bad else "rank",
               lambda: buffer.combine(bf16(len(good) + 1, HIDDEN) if bad else good, handle))
        raises(ValueError if bad else RuntimeError, "handle is a tuple" if bad else "rank",
               lambda: buffer.combine(good, () if bad else handle))
        raises(ValueError if bad else RuntimeError, "x has the shape" if bad else "rank",
               lambda: buffer.dispatch(bf16(TOKENS + 1, HIDDEN) if bad else x, handle=handle))
        raises(ValueError if bad else RuntimeError, "num_worst_tokens is -5" if bad else "rank",
               lambda: buffer.dispatch(x, topk_idx=idx, num_worst_tokens=-5 if bad else RECEIVED))
        works(buffer, experts)
    works(buffer, experts)


def without_a_handle(me: int, pes: int, experts: int) -> None:
    """A rank that no dispatch has given a handle takes part in what the others do with theirs."""
    buffer = Buffer(hidden=HIDDEN, num_topk=TOPK, num_experts=experts, num_max_recv_tokens=RECEIVED)
    x, idx, bad = bf16(TOKENS, HIDDEN), routes(experts), me == pes - 1
    raises(ValueError, "handle is a NoneType", lambda: buffer.combine(x, None))
    handle = None
    if bad:
        raises(ValueError, "x has elements", lambda: buffer.dispatch(idx, topk_idx=idx, num_worst_tokens=RECEIVED))
    else:
        raises(RuntimeError, "rank", lambda: buffer.dispatch(x, topk_idx=idx, num_worst_tokens=RECEIVED))
    raises(ValueError, "handle is a NoneType", lambda: buffer.combine(x, handle))
    recv_x, _, _, _, handle, _ = buffer.dispatch(x, topk_idx=idx)
    raises(ValueError if bad else RuntimeError, "handle is a NoneType" if bad else "rank",
           lambda: buffer.internode_combine(recv_x, None if bad else handle))
    raises(ValueError if bad else RuntimeError, "handle is a NoHandle" if bad else "rank",
           lambda: buffer.dispatch(x, handle=buffer.no_handle() if bad else handle))
    buffer.internode_combine(recv_x, handle)
    works(buffer, experts)
    buffer.destroy()


def no_memory(me: int, pes: int, experts: int) -> None:
    """A rank that cannot get the memory for a dispatch raises; the others learn of it."""
    buffer = Buffer(hidden=HIDDEN, num_topk=1, num_experts=experts, num_max_recv_tokens=RECEIVED)
    few, many, short = bf16(TOKENS, 8), 8 << 20, me == 0
    x, idx = (
        (np.zeros((many, 8), np.uint16), np.full((many, 1), -1, np.int64))
        if short
        else (few, routes(experts)[:, :1].copy())
    )
    before = resource.getrlimit(resource.RLIMIT_AS)
    if short:
        pages = int(open("/proc/self/statm").read().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (16 << 20), before[1]))
    try:
        raises(
            RuntimeError if short else ValueError,
            "memory" if short else "rank 0",
            lambda: buffer.dispatch(x, topk_idx=idx),
        )
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    works(buffer, experts)
    buffer.destroy()


def low_latency(me: int, pes: int, experts: int) -> None:
    buffer = Buffer(hidden=512, num_topk=TOPK, num_experts=experts, low_latency_mode=True,
                    num_max_dispatch_tokens_per_rank=TOKENS)
    x, idx = bf16(TOKENS, HIDDEN), routes(experts)
    weights = np.ones(idx.shape, np.float32)
    for pattern, call in (
        ("num_max_dispatch_tokens_per_rank is 9: must be 8", lambda: buffer.low_latency_dispatch(x, idx, 9, experts)),
        ("num_experts is .*: must be", lambda: buffer.low_latency_dispatch(x, idx, TOKENS, experts + pes)),
        (
            "x has 9 tokens: must have at most",
            lambda: buffer.low_latency_dispatch(bf16(9, HIDDEN), routes(experts, 9), TOKENS, experts),
        ),
        (
            "x has hidden 192: must be a multiple of 128",
            lambda: buffer.low_latency_dispatch(bf16(8, 192), idx, TOKENS, experts),
        ),
        (
            "x has hidden 256: must be a multiple of 512",
            lambda: buffer.low_latency_dispatch(x, idx, TOKENS, experts, round_scale=True, use_ue8m0=True),
        ),
        ("use_ue8m0 is True", lambda: buffer.low_latency_dispatch(x, idx, TOKENS, experts, use_ue8m0=True)),
        (
            "both True",
            lambda: buffer.low_latency_dispatch(x, idx, TOKENS, experts, async_finish=True, return_recv_hook=True),
        ),
        (
            "cumulative_local_expert_recv_stats has",
            lambda: buffer.low_latency_dispatch(x, idx, TOKENS, experts, np.zeros(999, np.int32)),
        ),
    ):
        raises(ValueError, pattern, call)
    rows, _, handle, _, _ = buffer.low_latency_dispatch(x, idx, TOKENS, experts, use_fp8=False)
    for pattern, call in (
            ("use_logfmt is True: the LogFMT format is not supported",
             lambda: buffer.low_latency_combine(rows, idx, weights, handle, use_logfmt=True)),
            ("combine_wait_recv_cost_stats is given: not supported",
             lambda: buffer.low_latency_combine(rows, idx, weights, handle,
                                                combine_wait_recv_cost_stats=np.zeros(pes, np.int64))),
            ("x has the shape", lambda: buffer.low_latency_combine(rows[:, 1:].copy(), idx, weights, handle)),
            ("out has the shape", lambda: buffer.low_latency_combine(rows, idx, weights, handle, out=bf16(1, HIDDEN))),
            (r"topk_idx has the shape \[7, 2\].*\[8, 2\]",
             lambda: buffer.low_latency_combine(rows, idx[:7], weights[:7], handle)),
            (r"topk_idx has the shape \[8, 1\]",
             lambda: buffer.low_latency_combine(rows, idx[:, :1].copy(), weights[:, :1].copy(), handle)),
            ("handle is a tuple", lambda: buffer.low_latency_combine(rows, idx, weights, tuple(handle)))):
        raises(ValueError, pattern, call)
    buffer.low_latency_combine(rows, idx, weights, handle)
    for wrong in range(min(pes, 2)):
        bad = me == wrong
        raises(ValueError if bad else RuntimeError, "num_experts is" if bad else "rank",
               lambda: buffer.low_latency_dispatch(x, idx, TOKENS, experts + pes if bad else experts))
        raises(ValueError if bad else RuntimeError, "topk_weights has the shape" if bad else "rank",
               lambda: buffer.low_latency_combine(rows, idx, weights[1:] if bad else weights, handle))
        raises(ValueError if bad else RuntimeError, "handle is a tuple" if bad else "rank",
               lambda: buffer.low_latency_combine(rows, idx, weights, tuple(handle) if bad else handle))
    buffer.low_latency_combine(rows, idx, weights, handle)
    masks(me, pes, buffer)
    buffer.destroy()
    raises(RuntimeError, "destroyed", lambda: buffer.low_latency_combine(rows, idx, weights, handle))


def masks(me: int, pes: int, buffer: Buffer) -> None:
    status = np.full(pes, 7, np.int32)
    buffer.low_latency_query_mask_buffer(status)
    same(status, np.zeros(pes), "nobody is masked")
    other = (me + 1) % pes
    if pes > 1:
        buffer.low_latency_update_mask_buffer(other, True)
        buffer.low_latency_query_mask_buffer(status)
        same(status, np.arange(pes) == other, "one is masked")
        buffer.low_latency_update_mask_buffer(other)
        buffer.low_latency_update_mask_buffer(other, True)
        buffer.low_latency_clean_mask_buffer()
        buffer.low_latency_query_mask_buffer(status)
        same(status, np.zeros(pes), "nobody is masked any more")
    raises(ValueError, f"rank_to_mask is {pes}", lambda: buffer.low_latency_update_mask_buffer(pes))
    raises(ValueError, "mask_status has", lambda: buffer.low_latency_query_mask_buffer(np.zeros(pes + 1, np.int32)))


def absent_rank(me: int, pes: int) -> None:
    """The last rank stays away: the others take it for dead after the timeout and go on without it."""
    experts, absent = 2 * pes, pes - 1
    buffer = Buffer(hidden=HIDDEN, num_topk=TOPK, num_experts=experts, low_latency_mode=True,
                    num_max_dispatch_tokens_per_rank=TOKENS, low_latency_timeout_s=5)
    idx = np.tile(np.array([[0, experts - 1]], np.int64), (TOKENS, 1))
    if me != absent:
        for _ in range(2):  # the second is not waited for
            rows, count, handle, _, _ = buffer.low_latency_dispatch(
                bf16(TOKENS, HIDDEN), idx, TOKENS, experts, use_fp8=False
            )
            same(count, [TOKENS * (pes - 1) if me == 0 else 0, 0], "rows without those of the absent rank")
            out, _, _ = buffer.low_latency_combine(rows, idx, np.ones(idx.shape, np.float32), handle)
            same(out, bf16(TOKENS, HIDDEN), "sums without the absent rank's")
        status = np.zeros(pes, np.int32)
        buffer.low_latency_query_mask_buffer(status)
        same(status, np.arange(pes) == absent, "the absent rank is masked")
    buffer.destroy()


def body() -> None:
    causeway.init()
    me, pes = causeway.my_pe(), causeway.n_pes()
    making(me, pes)
    experts = 4 * pes
    buffer = Buffer(hidden=HIDDEN, num_topk=TOPK, num_experts=experts, num_max_recv_tokens=RECEIVED)
    works(buffer, experts)
    arguments(me, pes, buffer, experts)
    one_rank_is_wrong(me, pes, buffer, experts)
    without_a_handle(me, pes, experts)
    no_memory(me, pes, experts)
    low_latency(me, pes, experts)
    if pes > 1:
        absent_rank(me, pes)
    buffer.destroy()
    causeway.finalize()
    print(f"ep errors, PE {me} of {pes}: ok", flush=True)


if __name__ == "__main__":
    main(body)
