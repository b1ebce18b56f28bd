"""Names, arguments and defaults of deep_ep 1.2.1, whose programs change one import. Run as:
    causeway run -n 1 python tests/python/ep_interface_test.py
"""
import inspect

from common import main, require

import causeway.ep
import causeway.ep.utils

_LAYOUT = ("self, x, handle=None, num_tokens_per_rank=None, num_tokens_per_rdma_rank=None, is_token_in_rank=None, "
           "num_tokens_per_expert=None, topk_idx=None, topk_weights=None, expert_alignment=1, ")
_EVENTS = "previous_event=None, async_finish=False, allocate_on_comm_stream=False"
_COMBINE = "self, x, handle, topk_weights=None, bias=None, config=None, " + _EVENTS
BUFFER = {
    "__init__": "self, group, num_nvl_bytes=0, num_rdma_bytes=0, low_latency_mode=False, num_qps_per_rank=24, "
    "allow_nvlink_for_low_latency_mode=True, allow_mnnvl=False, explicitly_destroy=False, comm=None",
    "destroy": "self",
    "is_sm90_compiled": "",
    "set_num_sms": "new_num_sms",
    "capture": "",
    "get_low_latency_rdma_size_hint": "num_max_dispatch_tokens_per_rank, hidden, num_ranks, num_experts",
    "get_comm_stream": "self",
    "get_dispatch_config": "num_ranks",
    "get_combine_config": "num_ranks",
    "get_dispatch_layout": "self, topk_idx, num_experts, " + _EVENTS,
    "dispatch": _LAYOUT + "num_worst_tokens=0, config=None, " + _EVENTS,
    "combine": _COMBINE,
    "internode_dispatch": _LAYOUT + "config=None, " + _EVENTS,
    "internode_combine": _COMBINE,
    "clean_low_latency_buffer": "self, num_max_dispatch_tokens_per_rank, hidden, num_experts",
    "low_latency_dispatch": "self, x, topk_idx, num_max_dispatch_tokens_per_rank, num_experts, "
    "cumulative_local_expert_recv_stats=None, dispatch_wait_recv_cost_stats=None, use_fp8=True, "
    "round_scale=False, use_ue8m0=False, async_finish=False, return_recv_hook=False",
    "low_latency_combine": "self, x, topk_idx, topk_weights, handle, use_logfmt=False, zero_copy=False, "
    "async_finish=False, return_recv_hook=False, out=None, combine_wait_recv_cost_stats=None",
    "get_next_low_latency_combine_buffer": "self, handle",
}
OVERLAP = {"__init__": "self, event=None, extra_tensors=None", "current_stream_wait": "self", "__enter__": "self",
           "__exit__": "self, exc_type, exc_val, exc_tb"}
CONFIG = {
    "__init__": "self, num_sms=20, num_max_nvl_chunked_send_tokens=6, num_max_nvl_chunked_recv_tokens=256, "
    "num_max_rdma_chunked_send_tokens=6, num_max_rdma_chunked_recv_tokens=256",
    "get_nvl_buffer_size_hint": "self, hidden_bytes, num_ranks",
    "get_rdma_buffer_size_hint": "self, hidden_bytes, num_ranks",
}


def check(owner: type, name: str, wanted: str) -> None:
    """Arguments of the same names, in the same order, with the same defaults; ours may have more, with defaults or by
    name."""
    ours = [one for one in inspect.signature(getattr(owner, name)).parameters.values()]
    where = f"{owner.__name__}.{name}"
    for i, argument in enumerate(wanted.split(", ") if wanted else []):
        expected, _, default = argument.partition("=")
        require(i < len(ours) and ours[i].name == expected, f"{where}: argument {i} must be {expected}")
        require(ours[i].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD, f"{where}: {expected} by position and by name")
        if default:
            require(repr(ours[i].default) == default, f"{where}: {expected} is {ours[i].default!r}, must be {default}")
    for more in ours[len(wanted.split(", ")) if wanted else 0:]:
        require(more.default is not inspect.Parameter.empty, f"{where}: {more.name} must have a default")


def body() -> None:
    for owner, methods in (
        (causeway.ep.Buffer, BUFFER),
        (causeway.ep.utils.EventOverlap, OVERLAP),
        (causeway.ep.Config, CONFIG),
    ):
        for name, wanted in methods.items():
            check(owner, name, wanted)
            require(name.startswith("__") or bool(getattr(owner, name).__doc__), f"{name} has a docstring")
    for name in ("num_sms",):
        require(isinstance(getattr(causeway.ep.Buffer, name), int), f"Buffer.{name}")
    require(causeway.ep.utils.EventOverlap is causeway.ep.EventOverlap, "one class")
    print("ep_interface: ok", flush=True)


if __name__ == "__main__":
    main(body)
