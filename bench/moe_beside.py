#!/usr/bin/env python3
"""The mixture-of-experts buffer beside DeepEP (https://github.com/deepseek-ai/DeepEP, 1.2.1): the same program, one
import apart.

    torchrun --nproc-per-node 2 bench/moe_beside.py causeway.ep causeway.json
    torchrun --nproc-per-node 2 bench/moe_beside.py deep_ep deep_ep.json
    bench/moe_beside.py --table causeway.json deep_ep.json

A GPU a rank. What a call takes is the best of some replays of a CUDA graph of CALLS calls, all ranks beginning
together, the slowest rank counting. Each library's results are first checked against sums in float32.
"""
import importlib
import importlib.metadata
import json
import os
import sys

HIDDEN, TOPK, EXPERTS, TOKENS, FEW, SMS, CALLS, ROUNDS = 7168, 8, 256, 4096, 128, 24, 10, 20
NAMES = {  # rows of the table, in order
    "low-latency dispatch, 128 tokens, FP8": 0,
    "low-latency dispatch, 128 tokens, BF16": 0,
    "low-latency combine, 128 tokens": 0,
    "low-latency dispatch FP8 and combine": 0,
    "dispatch, 4096 tokens, BF16, same routes": 0,
    "dispatch, 4096 tokens, FP8, same routes": 0,
    "combine, 4096 tokens, BF16": 0,
}


def table(paths):
    ours, peer = (
        json.load(open(path)) if os.path.exists(path) else {"library": "not there", "us": {}} for path in paths[:2]
    )
    print(f"{'':44}{ours['library']:>14}{peer['library']:>14}   peer / ours")
    for name in NAMES:
        a, b = ours["us"].get(name), peer["us"].get(name)
        shown = [f"{value:11.1f} us" if value else f"{'-':>14}" for value in (a, b)]
        print(f"{name:44}{shown[0]}{shown[1]}" + (f"   {b / a:11.2f}" if a and b else ""))


def version_of(library):
    """Of what is installed; None for a build that is not."""
    package = library.split(".")[0]
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return getattr(importlib.import_module(package), "__version__", None)


def measure(library, path):
    import torch
    import torch.distributed as dist
    rank, ranks, local = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", device_id=torch.device("cuda", local))
    group = dist.new_group(list(range(ranks)))
    module = importlib.import_module(library)
    Buffer = module.Buffer
    us = {}

    def note(name, call, calls=CALLS):
        """What a call takes in a graph."""
        assert name in NAMES, name
        try:
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                call()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
                kept = [call() for _ in range(calls)]
        except RuntimeError as error:  # (a library that cannot be captured has no figure, on all ranks)
            print(f"{library}: {name}: {str(error).splitlines()[0]}", flush=True)
            torch.cuda.synchronize()
            return
        best = float("inf")
        for _ in range(ROUNDS):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            dist.all_reduce(torch.ones(1, device="cuda"))
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            slowest = torch.tensor(begin.elapsed_time(end) * 1000 / calls, device="cuda")
            dist.all_reduce(slowest, dist.ReduceOp.MAX)
            best = min(best, float(slowest))
        us[name] = round(min(us.get(name, best), best), 2)
        del kept

    def require(name, got, expected, bound):
        error = float((got.float() - expected).norm() / expected.norm())
        if not error < bound:
            raise SystemExit(f"{library}, rank {rank}: {name} deviates by {error:.2g}, at most {bound} is right")

    torch.manual_seed(rank)
    x = torch.randn(TOKENS, HIDDEN, dtype=torch.bfloat16, device="cuda")
    idx = torch.topk(torch.rand(TOKENS, EXPERTS, device="cuda"), TOPK)[1]
    weights = torch.rand(TOKENS, TOPK, device="cuda")

    # ---- low latency
    size = Buffer.get_low_latency_rdma_size_hint(FEW, HIDDEN, ranks, EXPERTS)
    buffer = Buffer(
        group, num_rdma_bytes=size, low_latency_mode=True, num_qps_per_rank=EXPERTS // ranks, explicitly_destroy=True
    )
    few, few_idx, few_weights = x[:FEW].contiguous(), idx[:FEW].contiguous(), weights[:FEW].contiguous()
    held = {}

    def dispatch(fp8):
        held["x"], _, held["handle"], _, _ = buffer.low_latency_dispatch(few, few_idx, FEW, EXPERTS, use_fp8=fp8)
        return held["x"], held["handle"]

    def combine(rows):
        return buffer.low_latency_combine(rows, few_idx, few_weights, held["handle"])[0]

    dispatch(False)
    expected = few.float() * few_weights.sum(1, keepdim=True)
    rows = held["x"].clone()
    require("low-latency combine", combine(rows), expected, 0.01)
    values, scales = dispatch(True)[0]
    cast = (values.float().unflatten(-1, (-1, 128)) * scales.unsqueeze(-1)).flatten(-2).bfloat16()
    require("low-latency combine of FP8", combine(cast), expected, 0.06)
    del values, scales, cast
    dispatch(False)
    note("low-latency combine, 128 tokens", lambda: combine(rows))
    note("low-latency dispatch, 128 tokens, FP8", lambda: dispatch(True))
    note("low-latency dispatch, 128 tokens, BF16", lambda: dispatch(False))
    note("low-latency dispatch FP8 and combine", lambda: (dispatch(True), combine(rows)))
    torch.cuda.synchronize()
    held.clear()
    buffer.destroy()

    # ---- high throughput
    Buffer.set_num_sms(SMS)
    options = {}
    if library == "causeway.ep":
        options = {"hidden": HIDDEN, "num_topk": TOPK, "num_experts": EXPERTS, "num_max_recv_tokens": TOKENS * ranks}
        configurations = [(None, None)]
    else:  # the chunks of its own benchmark, of which the best counts
        configurations = [(module.Config(SMS, chunk, 256),) * 2 for chunk in (4, 8, 12, 16, 24, 32)]
    buffer = Buffer(group, num_nvl_bytes=2**30, explicitly_destroy=True, **options)
    per_rank, _, per_expert, in_rank, _ = buffer.get_dispatch_layout(idx, EXPERTS)
    amax = x.float().unflatten(-1, (-1, 128)).abs().amax(-1).clamp(1e-4)
    fp8 = (x.float().unflatten(-1, (-1, 128)) * (448 / amax.unsqueeze(-1))).flatten(-2).to(
        torch.float8_e4m3fn
    ), amax / 448
    got, *_, handle, _ = buffer.dispatch(x, num_tokens_per_rank=per_rank, is_token_in_rank=in_rank,
                                         num_tokens_per_expert=per_expert, topk_idx=idx, topk_weights=weights)
    back = buffer.combine(got, handle)[0]
    require("combine", back, x.float() * in_rank.sum(1, keepdim=True), 0.01)
    for to, fro in configurations:
        note("dispatch, 4096 tokens, BF16, same routes", lambda: buffer.dispatch(x, handle=handle, config=to)[0])
        note("dispatch, 4096 tokens, FP8, same routes", lambda: buffer.dispatch(fp8, handle=handle, config=to)[0])
        note("combine, 4096 tokens, BF16", lambda: buffer.combine(got, handle, config=fro)[0])
    torch.cuda.synchronize()
    buffer.destroy()

    if rank == 0:
        with open(path, "w") as file:
            json.dump(
                {
                    "library": library,
                    "version": version_of(library),
                    "gpu": torch.cuda.get_device_name(),
                    "ranks": ranks,
                    "torch": torch.__version__,
                    "nccl": ".".join(map(str, torch.cuda.nccl.version())),
                    "us": us,
                },
                file,
                indent=1,
            )
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--table"]:
        table(sys.argv[2:])
    else:
        measure(*sys.argv[1:3])
