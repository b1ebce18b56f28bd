"""causeway.ep.Buffer against a NumPy model: random cases, each rank computes all ranks' inputs from the seed. Run as:
    causeway run -n 4 python tests/python/ep_test.py [cases] [first seed] [numpy|torch]
"""
import sys

import numpy as np
from common import main, require, same
from ep_model import (Case, cast, check_combined, check_low_latency_combined, check_low_latency_rows, expert_output,
                      random_case)

import causeway
from causeway.ep import Buffer


class NumpyTensors:
    """Bits of bfloat16 are uint16, of FP8 uint8."""

    @staticmethod
    def give(array, kind=None):
        return np.ascontiguousarray(array)

    @staticmethod
    def take(array):
        return np.asarray(array)

    @staticmethod
    def put(tensor, array):
        tensor[...] = array


class TorchTensors:
    @staticmethod
    def give(array, kind=None):
        import torch
        device = "cpu" if causeway.machine == "cpu" else "cuda"
        if kind == "bf16":
            return torch.from_numpy(np.ascontiguousarray(array).view(np.int16)).to(device).view(torch.bfloat16)
        made = torch.from_numpy(np.ascontiguousarray(array)).to(device)
        return made.view(torch.float8_e4m3fn) if kind == "fp8" and hasattr(torch, "float8_e4m3fn") else made

    @staticmethod
    def take(tensor):
        import torch
        if tensor.dtype == torch.bfloat16:
            return tensor.view(torch.int16).cpu().numpy().view(np.uint16)
        return (tensor.view(torch.uint8) if tensor.element_size() == 1 and tensor.dtype != torch.bool
                else tensor).cpu().numpy()

    @staticmethod
    def put(tensor, array):
        tensor.copy_(TorchTensors.give(array, "bf16"))


def check_layout(case: Case, me: int, buffer: Buffer, idx, tensors) -> tuple:
    per_rank, per_node, per_expert, in_rank, event = buffer.get_dispatch_layout(idx, case.experts)
    goes = case.goes(me)
    same(tensors.take(per_rank), goes.sum(axis=0), "tokens per rank")
    by_node = goes.reshape(len(goes), case.ranks // case.node_ranks, case.node_ranks).any(axis=2).sum(axis=0)
    if case.node_ranks == case.ranks:
        require(per_node is None, "no counts by node in one node")
    else:
        same(tensors.take(per_node), by_node, "tokens per node")
    wanted = [np.count_nonzero((case.topk_idx[me] == expert).any(axis=1)) for expert in range(case.experts)]
    same(tensors.take(per_expert), wanted, "tokens per expert")
    same(tensors.take(in_rank).astype(bool), goes, "token in rank")
    require(event.event is None, "no event without async_finish")
    return per_rank, per_node, in_rank, per_expert


def check_received(case: Case, me: int, result, tensors, weighted: bool, alignment: int) -> list:
    recv_x, recv_idx, recv_weights, per_expert, handle, _ = result
    rows = case.arrivals(me)
    same(tensors.take(recv_x), np.array([case.x[s][t] for s, t in rows], np.uint16).reshape(len(rows), case.hidden),
         "rows")
    same(tensors.take(handle.origin), np.array(rows, np.int32).reshape(len(rows), 2), "origins")
    wanted_idx = case.received_idx(me, rows)
    same(tensors.take(recv_idx), wanted_idx, "received topk_idx")
    if weighted:
        same(tensors.take(recv_weights), case.received_weights(me, rows), "received topk_weights")
    else:
        require(recv_weights is None, "no weights were given")
    counts = [np.count_nonzero((wanted_idx == expert).any(axis=1)) for expert in range(case.own)]
    same(per_expert, [-(-count // alignment) * alignment for count in counts], "received tokens per expert")
    return rows


def throughput(case: Case, me: int, buffer: Buffer, tensors) -> bytes:
    """All of the high-throughput mode once; returns bits that must be the same in every run."""
    rng = np.random.default_rng([case.seed, 1])
    weighted, alignment, asynchronous = bool(rng.random() < 0.7), int(rng.choice([1, 4, 128])), bool(rng.random() < 0.5)
    x, idx = tensors.give(case.x[me], "bf16"), tensors.give(case.topk_idx[me])
    weights = tensors.give(case.weights[me]) if weighted else None
    per_rank, per_node, in_rank, per_expert = check_layout(case, me, buffer, idx, tensors)
    result = buffer.dispatch(x, num_tokens_per_rank=per_rank, num_tokens_per_rdma_rank=per_node,
                             is_token_in_rank=in_rank, num_tokens_per_expert=per_expert, topk_idx=idx,
                             topk_weights=weights, expert_alignment=alignment,
                             previous_event=buffer.capture() if asynchronous else None, async_finish=asynchronous,
                             allocate_on_comm_stream=asynchronous)
    if asynchronous:
        result[-1].current_stream_wait()
    rows = check_received(case, me, result, tensors, weighted, alignment)
    recv_x, recv_weights, handle = result[0], result[2], result[4]
    bits = tensors.take(recv_x).tobytes()

    biases = [case.x[me][::-1].copy() for _ in range(int(rng.integers(0, 3)))]
    bias = [tensors.give(one, "bf16") for one in biases]
    outputs = tensors.give(expert_output(tensors.take(recv_x), me), "bf16")
    combined, summed, event = buffer.combine(outputs, handle, topk_weights=recv_weights, async_finish=asynchronous,
                                             bias=None if not bias else bias[0] if len(bias) == 1 else tuple(bias))
    with event:
        pass
    check_combined(case, me, tensors.take(combined), biases)
    if weighted:
        wanted = np.where(case.topk_idx[me] >= 0, case.weights[me], np.float32(0))
        same(tensors.take(summed), wanted, "summed weights")
    bits += tensors.take(combined).tobytes()

    other = tensors.give(case.x[me] ^ 0x8000, "bf16")  # the same routes with other rows: negated ones
    again, *nothing, _ = buffer.dispatch(other, handle=handle)
    same(tensors.take(again), tensors.take(recv_x) ^ 0x8000, "rows along a handle's routes")
    require(nothing == [None] * 4, "a dispatch with a handle returns rows alone")

    codes, scales = cast(case.x[me])
    pair = (tensors.give(codes, "fp8"), tensors.give(scales))
    (got_codes, got_scales), got_idx, *_ = buffer.dispatch(pair, num_tokens_per_expert=per_expert, topk_idx=idx)
    all_cast = [cast(one) for one in case.x]
    shape = (len(rows), case.hidden)
    same(tensors.take(got_codes), np.array([all_cast[s][0][t] for s, t in rows], np.uint8).reshape(shape), "FP8 rows")
    wanted_scales = np.array([all_cast[s][1][t] for s, t in rows], np.float32).reshape(len(rows), case.hidden // 128)
    same(tensors.take(got_scales), wanted_scales, "scales")

    worst = max(1, sum(case.tokens))
    wide = buffer.dispatch(x, num_tokens_per_expert=per_expert, topk_idx=idx, topk_weights=weights,
                           num_worst_tokens=worst)
    same(tensors.take(wide[0])[:len(rows)], tensors.take(recv_x), "rows in worst-case mode")
    same(tensors.take(wide[1])[:len(rows)], tensors.take(result[1]), "topk_idx in worst-case mode")
    same(tensors.take(wide[1])[len(rows):], np.full((worst - len(rows), case.topk), -1),
         "topk_idx past the rows that came")
    require(wide[3] == [], "no list in worst-case mode")
    outputs = tensors.give(expert_output(tensors.take(wide[0]), me), "bf16")
    combined, _, _ = buffer.combine(outputs, wide[4])
    check_combined(case, me, tensors.take(combined), [])
    return bits


def low_latency(case: Case, me: int, buffer: Buffer, tokens_max: int, mode: str, hooked: bool, tensors) -> bytes:
    x, idx = tensors.give(case.x[me], "bf16"), tensors.give(case.topk_idx[me])
    total = tensors.give(np.full(case.own, 5, np.int32))
    waits = tensors.give(np.zeros(case.ranks, np.int64))
    got, count, handle, event, hook = buffer.low_latency_dispatch(
        x, idx, tokens_max, case.experts, cumulative_local_expert_recv_stats=total, dispatch_wait_recv_cost_stats=waits,
        use_fp8=mode != "bf16", round_scale=mode in ("rounded", "ue8m0"), use_ue8m0=mode == "ue8m0",
        return_recv_hook=hooked)
    require((hook is not None) == hooked, "a hook if one was asked for")
    if hooked:
        hook()
    rows, scales = got if mode != "bf16" else (got, None)
    rows, scales = tensors.take(rows), None if scales is None else tensors.take(scales)
    if mode == "ue8m0":
        exponents = np.ascontiguousarray(scales).view(np.uint8).astype(np.float64)
        scales = 2.0 ** (exponents - 127)
    check_low_latency_rows(case, me, (rows, scales), tensors.take(count), tensors.take(handle[0]),
                           tensors.take(handle[1]), mode)
    same(tensors.take(total), 5 + tensors.take(count), "cumulative counts")
    require(bool((tensors.take(waits) >= 0).all()), "waiting times")
    if mode != "bf16":
        return b""  # rows past those that came are not defined
    valid = [slice(0, int(n)) for n in tensors.take(count)]
    made = np.zeros(rows.shape, np.uint16)
    for expert, here in enumerate(valid):
        made[expert, here] = expert_output(rows[expert, here], me)
    outputs = tensors.give(made, "bf16")
    if hooked:  # the rows that count are in the handle's tensor
        tensors.put(buffer.get_next_low_latency_combine_buffer(handle), made)
        outputs = tensors.give(np.full_like(made, 0x7FC0), "bf16")
    out = tensors.give(np.zeros((case.tokens[me], case.hidden), np.uint16), "bf16") if hooked else None
    combined, event, hook = buffer.low_latency_combine(outputs, idx, tensors.give(case.weights[me]), handle,
                                                       zero_copy=hooked,
                                                       return_recv_hook=hooked, out=out)
    if hooked:
        hook()
        require(combined is out, "the result is in out")
    check_low_latency_combined(case, me, tensors.take(combined))
    return tensors.take(combined).tobytes()


def run_case(seed: int, tensors) -> None:
    me, ranks = causeway.my_pe(), causeway.n_pes()
    case = random_case(seed, ranks)
    tokens_max = max(1, max(case.tokens))
    try:
        buffer = Buffer(hidden=case.hidden, num_topk=case.topk, num_experts=case.experts,
                        num_max_recv_tokens=max(1, sum(case.tokens)), node_ranks=case.node_ranks, low_latency_mode=True,
                        num_max_dispatch_tokens_per_rank=tokens_max, explicitly_destroy=True)
        first = throughput(case, me, buffer, tensors)
        require(first == throughput(case, me, buffer, tensors), "other bits in the second run")
        modes = ["bf16", "fp8", "rounded"] + (["ue8m0"] if case.hidden % 512 == 0 else [])
        bits = [low_latency(case, me, buffer, tokens_max, mode, hooked, tensors) for mode in modes
                for hooked in (False, True)]
        require(bits[0] == bits[1], "other bits with a hook")
        buffer.destroy()
    except BaseException:
        print(f"rank {me}: {case.describe()}", file=sys.stderr, flush=True)
        raise


def body() -> None:
    cases, first = (int(given) for given in (sys.argv[1:3] + ["20", "1"][len(sys.argv[1:3]):]))
    tensors = TorchTensors if "torch" in sys.argv else NumpyTensors
    causeway.init()
    for seed in range(first, first + cases):
        run_case(seed, tensors)
    me, pes = causeway.my_pe(), causeway.n_pes()
    causeway.finalize()
    print(f"ep, PE {me} of {pes}: {cases} cases ok", flush=True)


if __name__ == "__main__":
    main(body)
