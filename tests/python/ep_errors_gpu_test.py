"""Bad input of one rank to causeway.ep.Buffer, on either machine. The rank that is wrong raises at once, naming the
argument. Every
other rank raises in that call, or on a GPU when it looks next: in a check or at the end of a combine. Nobody waits for
    ever, and good calls give the right results afterwards. Run as: causeway run -n 2 python
    tests/python/ep_errors_gpu_test.py
Tensors are PyTorch's on the CUDA machine, NumPy's on the other.
"""
from typing import Any, Callable

import numpy as np
from common import from_bf16, main, raises, require, same, to_bf16

import causeway
from causeway.ep import Buffer

on_gpu = causeway.machine == "cuda"
late = on_gpu  # what a rank has done wrong may be told to others after the call
if on_gpu:
    import torch

HIDDEN, TOPK, TOKENS = 256, 2, 8
Call = Callable[[], Any]


def given(array: np.ndarray) -> Any:
    return torch.from_numpy(np.ascontiguousarray(array)).cuda() if on_gpu else np.ascontiguousarray(array)


def bf16(numbers: np.ndarray) -> Any:
    """Of numbers that bfloat16 holds."""
    return given(numbers.astype(np.float32)).bfloat16() if on_gpu else to_bf16(numbers)


def numbers_in(tensor: Any) -> np.ndarray:
    return tensor.float().cpu().numpy() if on_gpu else from_bf16(tensor)


def without_raising(call: Call) -> "ValueError | RuntimeError | None":
    """What a call has raised."""
    try:
        call()
    except (ValueError, RuntimeError) as problem:
        return problem
    return None


class Job:
    """This rank, its buffer and what it sends: each token goes to the first and to the last expert."""

    def __init__(self) -> None:
        self.me, self.pes = causeway.my_pe(), causeway.n_pes()
        self.experts, self.received_max = 4 * self.pes, 16 * self.pes
        self.buffer = Buffer(
            hidden=HIDDEN,
            num_topk=TOPK,
            num_experts=self.experts,
            num_max_recv_tokens=self.received_max,
            low_latency_mode=True,
            num_max_dispatch_tokens_per_rank=TOKENS,
        )
        self.comm = self.buffer.get_comm_stream()
        everyones = np.arange(1, self.pes * TOKENS + 1)[:, None] * np.where(np.arange(HIDDEN) % 2, -1, 1)
        self.own = everyones[self.me * TOKENS:(self.me + 1) * TOKENS]
        self.arriving = everyones if self.me in (0, self.pes - 1) else everyones[:0]
        self.x = bf16(self.own)
        self.idx = given(np.tile(np.array([[0, self.experts - 1]], np.int64), (TOKENS, 1)))
        self.halves = given(np.full((TOKENS, TOPK), 0.5, np.float32))
        self.turn = 0
        self.kept_x, _, _, _, self.kept, _ = self.buffer.dispatch(self.x, topk_idx=self.idx)

    def check(self) -> None:
        self.buffer.runtime.check(self.comm.cuda_stream)

    def combine_kept(self) -> None:
        combined, _, _ = self.buffer.combine(self.kept_x, self.kept)
        same(numbers_in(combined), self.own * min(self.pes, 2), "sums along earlier routes")

    def works(self) -> None:
        recv_x, _, _, per_expert, handle, _ = self.buffer.dispatch(self.x, topk_idx=self.idx)
        same(numbers_in(recv_x), self.arriving, "rows of a good dispatch")
        combined, _, _ = self.buffer.combine(recv_x, handle)
        same(numbers_in(combined), self.own * min(self.pes, 2), "sums of a good combine")
        rows, count, low_handle, _, _ = self.buffer.low_latency_dispatch(
            self.x, self.idx, TOKENS, self.experts, use_fp8=False
        )
        counts = np.asarray(count.cpu() if on_gpu else count)
        same(counts, per_expert, "rows of each expert of a good low-latency dispatch")
        for expert in np.flatnonzero(counts):
            same(numbers_in(rows[expert])[:counts[expert]], self.arriving, "rows of a good low-latency dispatch")
        combined, _, _ = self.buffer.low_latency_combine(rows, self.idx, self.halves, low_handle)
        same(numbers_in(combined), self.own, "sums of a good low-latency combine")
        self.check()

    def must_tell(self, pattern: str, owed: bool) -> None:
        """A rank that has not raised yet learns of it by one of what there is, in turn; afterwards nobody is told
        again."""
        if self.turn % 3 == 2:  # all ranks make it, and it is a good one for those that have raised
            if on_gpu:
                torch.cuda.synchronize()  # the report is there, and has not been looked at
            raises(RuntimeError, pattern, self.combine_kept) if owed else self.combine_kept()
        elif owed:
            look = self.check if self.turn % 3 == 0 else lambda: causeway.synchronize(self.comm)
            raises(RuntimeError, pattern, look)
        self.turn += 1
        self.check()

    def one_is_wrong(
        self, wrong: int, text: str, good: Call, bad: Call, *, waits: bool = False, by_device: str = ""
    ) -> None:
        """One rank makes the call `bad`, the others `good`. text: of its error. waits: the call waits for all ranks,
        which learn of it there. by_device: the mistake is found on the device, so that the rank itself learns of it
        like the others, who raise this."""
        mine = self.me == wrong
        problem = without_raising(bad if mine else good)
        others = by_device or rf"rank {wrong}:? "
        pattern = text if mine and (waits or not by_device) else others
        if problem is None:
            require(late and not waits and not (mine and not by_device), f"raised nothing, wanted '{pattern}'")
        else:
            raises(
                ValueError if (mine or waits) and not by_device else RuntimeError, pattern, lambda: raise_again(problem)
            )
        self.must_tell(pattern, problem is None)
        self.works()


def raise_again(problem: Exception) -> None:
    raise problem


def dispatches(job: Job, wrong: int) -> None:
    buffer, x, idx = job.buffer, job.x, job.idx
    no_expert = given(np.full((TOKENS, TOPK), 99999, np.int64))
    many = bf16(np.ones((job.received_max + 1, HIDDEN)))
    many_idx = given(np.zeros((job.received_max + 1, TOPK), np.int64))
    floats, wide = given(np.ones((TOKENS, HIDDEN), np.float32)), bf16(np.ones((TOKENS, 2 * HIDDEN)))

    def good(rows: int = 0) -> Call:
        return lambda: buffer.dispatch(x, topk_idx=idx, num_worst_tokens=rows)

    def bad(given_x: Any, given_idx: Any, rows: int = 0) -> Call:
        return lambda: buffer.dispatch(given_x, topk_idx=given_idx, num_worst_tokens=rows)

    job.one_is_wrong(wrong, "x has elements of float32", good(), bad(floats, idx), waits=True)
    job.one_is_wrong(wrong, f"x has hidden {2 * HIDDEN}", good(), bad(wide, idx), waits=True)
    job.one_is_wrong(wrong, "topk_idx has an entry", good(), bad(x, no_expert), waits=True)
    full = f"would receive .*recv_tokens_max (is|of) {job.received_max}"
    job.one_is_wrong(wrong, full, good(), bad(many, many_idx), waits=True, by_device=full)
    rows = job.received_max
    job.one_is_wrong(wrong, "x has elements of float32", good(rows), bad(floats, idx, rows))
    job.one_is_wrong(wrong, f"x has hidden {2 * HIDDEN}", good(rows), bad(wide, idx, rows))
    job.one_is_wrong(
        wrong,
        "",
        good(rows),
        bad(x, no_expert, rows),
        by_device=f"topk_idx of rank {wrong} has an entry that is no expert",
    )
    job.one_is_wrong(
        wrong, "", good(rows), bad(many, many_idx, rows), by_device="would receive more rows than it has room for"
    )


def along_routes(job: Job, wrong: int) -> None:
    """combine, and dispatch with a handle."""
    buffer, x, rows, handle = job.buffer, job.x, job.kept_x, job.kept
    count = len(job.arriving)

    def combine(given_x: Any) -> Call:
        return lambda: buffer.combine(given_x, handle)

    def again(given_x: Any) -> Call:
        return lambda: buffer.dispatch(given_x, handle=handle)

    for call, right, number in ((combine, rows, count), (again, x, TOKENS)):
        job.one_is_wrong(
            wrong, "x has elements of float32", call(right), call(given(np.ones((number, HIDDEN), np.float32)))
        )
        job.one_is_wrong(wrong, "x has the shape", call(right), call(bf16(np.ones((number, HIDDEN // 2)))))
        job.one_is_wrong(wrong, "x has the shape", call(right), call(bf16(np.ones((number + 1, HIDDEN)))))


def low_latency(job: Job, wrong: int) -> None:
    buffer, x, idx, experts = job.buffer, job.x, job.idx, job.experts

    def dispatch(given_x: Any, given_idx: Any) -> Call:
        return lambda: buffer.low_latency_dispatch(given_x, given_idx, TOKENS, experts, use_fp8=False)

    good = dispatch(x, idx)
    job.one_is_wrong(
        wrong, "x has elements of float32", good, dispatch(given(np.ones((TOKENS, HIDDEN), np.float32)), idx)
    )
    job.one_is_wrong(wrong, f"x has hidden {2 * HIDDEN}", good, dispatch(bf16(np.ones((TOKENS, 2 * HIDDEN))), idx))
    more = given(np.zeros((TOKENS + 1, TOPK), np.int64))
    job.one_is_wrong(wrong, f"x has {TOKENS + 1} tokens", good, dispatch(bf16(np.ones((TOKENS + 1, HIDDEN))), more))
    no_expert = given(np.full((TOKENS, TOPK), experts, np.int64))
    found = rf"rank {wrong}: topk_idx\["
    job.one_is_wrong(wrong, "", good, dispatch(x, no_expert), by_device=found)

    rows, _, handle, _, _ = good()

    def combine(given_rows: Any, given_idx: Any = idx, weights: Any = job.halves) -> Call:
        return lambda: buffer.low_latency_combine(given_rows, given_idx, weights, handle)

    shape = tuple(rows.shape)
    for text, bad in (("x has elements of float32", combine(given(np.ones(shape, np.float32)))),
                      ("x has the shape", combine(bf16(np.ones((*shape[:2], HIDDEN // 2))))),
                      ("topk_idx has the shape", combine(rows, more, job.halves)),
                      ("topk_weights has the shape", combine(rows, idx, job.halves[1:]))):
        job.one_is_wrong(wrong, text, combine(rows), bad)
    job.one_is_wrong(wrong, "", combine(rows), combine(rows, no_expert), by_device=found)


def body() -> None:
    causeway.init()
    job = Job()
    job.works()
    for wrong in sorted({0, job.pes - 1}):
        dispatches(job, wrong)
        along_routes(job, wrong)
        low_latency(job, wrong)
    job.buffer.destroy()
    me, pes = job.me, job.pes
    causeway.finalize()
    print(f"ep errors on either machine, PE {me} of {pes}: ok", flush=True)


if __name__ == "__main__":
    main(body)
