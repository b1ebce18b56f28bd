"""causeway.ep.Buffer made from torch.distributed process groups, as a program of DeepEP makes it: all ranks, then
halves of them. Run as: torchrun --nproc-per-node 4 tests/python/ep_group_test.py"""
import sys

from common import main, require

import causeway
from causeway.ep import Buffer, Config

try:
    import torch
    import torch.distributed as dist
except ImportError:
    print("ep_group_test: PyTorch is not installed; nothing tested")
    sys.exit(0)

HIDDEN, TOKENS, TOPK, OWN = 256, 50, 3, 4


def round_trip(group) -> None:
    """combine(dispatch(x)) is x times the number of ranks that a token went to."""
    rank, ranks = group.rank(), group.size()
    experts = OWN * ranks
    config = Config(Buffer.num_sms, 6, 256, 6, 128)
    size = config.get_nvl_buffer_size_hint(HIDDEN * 2, ranks)
    low = Buffer.get_low_latency_rdma_size_hint(TOKENS, HIDDEN, ranks, experts)
    buffer = Buffer(group, size, low, low_latency_mode=True, num_qps_per_rank=OWN)
    require((buffer.rank, buffer.group_size) == (rank, ranks), "ranks of the group")
    device = "cpu" if causeway.machine == "cpu" else "cuda"
    generator = torch.Generator().manual_seed(rank)
    x = torch.randn(TOKENS, HIDDEN, generator=generator).to(torch.bfloat16).to(device)
    idx = torch.rand(TOKENS, experts, generator=generator).topk(TOPK, dim=1).indices.to(device)
    weights = torch.rand(TOKENS, TOPK, generator=generator).to(device)
    copies = torch.stack([(idx // OWN == r).any(dim=1) for r in range(ranks)]).sum(dim=0)

    per_rank, per_node, per_expert, in_rank, event = buffer.get_dispatch_layout(idx, experts, async_finish=True)
    recv_x, recv_idx, recv_weights, per_own, handle, event = buffer.dispatch(
        x, topk_idx=idx, topk_weights=weights, num_tokens_per_rank=per_rank, num_tokens_per_rdma_rank=per_node,
        is_token_in_rank=in_rank, num_tokens_per_expert=per_expert, previous_event=event, async_finish=True,
        allocate_on_comm_stream=True, config=buffer.get_dispatch_config(ranks))
    event.current_stream_wait()
    require(
        recv_x.dtype == torch.bfloat16 and recv_idx.dtype == torch.int64 and sum(per_own) == int((recv_idx >= 0).sum()),
        "received tokens",
    )
    combined, summed, _ = buffer.combine(
        recv_x, handle, topk_weights=recv_weights, config=buffer.get_combine_config(ranks)
    )
    wanted = (x.float() * copies[:, None]).to(torch.bfloat16)
    require(torch.equal(combined, wanted), "combined rows")
    require(torch.equal(summed, weights), "summed weights")

    (codes, scales), count, low_handle, _, hook = buffer.low_latency_dispatch(
        x, idx, TOKENS, experts, return_recv_hook=True
    )
    hook()
    require(
        codes.shape == (OWN, TOKENS * ranks, HIDDEN) and scales.shape == (OWN, TOKENS * ranks, HIDDEN // 128), "shapes"
    )
    require(scales.stride(1) == 1, "scales are column-major")
    rows, count, low_handle, _, _ = buffer.low_latency_dispatch(x, idx, TOKENS, experts, use_fp8=False)
    out, _, _ = buffer.low_latency_combine(rows, idx, weights, low_handle)
    exact = x.float() * weights.sum(dim=1, keepdim=True)
    require(bool(((out.float() - exact).abs() <= 2 * 2.0**-8 * exact.abs() + 1e-6).all()), "low-latency sums")
    buffer.destroy()


def body() -> None:
    dist.init_process_group("gloo")
    causeway.init(dist.group.WORLD)
    round_trip(dist.group.WORLD)
    size, rank = dist.get_world_size(), dist.get_rank()
    if size % 2 == 0:
        halves = [list(range(size // 2)), list(range(size // 2, size))]
        groups = [dist.new_group(half) for half in halves]
        round_trip(groups[0] if rank in halves[0] else groups[1])
    causeway.finalize()
    print(f"ep groups, rank {rank} of {size}: ok", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(body)
