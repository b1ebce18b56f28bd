"""How large a buffer is: what its user says exactly, what size hints were asked for, and bytes."""
import os
from dataclasses import dataclass, fields
from typing import Any, Dict, Optional, Tuple, TypeVar

from .._machine import native
from .._world import is_initialized

_BLOCK = 128  # elements that share a scale: hidden is a multiple
# What the size hint of a Config provides for: tokens of a rank, and ranks that send all of theirs to one.
_HINT_TOKENS, _HINT_RANKS = 4096, 16
_DEFAULT_HIDDEN, _DEFAULT_TOPK, _DEFAULT_EXPERTS = 7168, 16, 1024


# The arguments of this process's size hints, by the bytes that they returned, the latest last. A Buffer that is only
# given bytes is made for these. In high-throughput mode: hidden. In low-latency mode: (tokens, hidden, experts).
_asked: Dict[int, int] = {}
_asked_low_latency: Dict[int, Tuple[int, int, int]] = {}
_Asked = TypeVar("_Asked")


def _remember(asked: Dict[int, _Asked], size: int, value: _Asked) -> int:
    asked.pop(size, None)
    asked[size] = value
    return size


def _recall(asked: Dict[int, _Asked], size: int) -> Optional[_Asked]:
    """The arguments of the hint of that size. Else those of the latest hint that fits into it, else of the latest."""
    if not asked or size in asked:
        return asked.get(size)
    return next((asked[hint] for hint in reversed(list(asked)) if hint <= size), asked[list(asked)[-1]])


def _round_up(value: int, unit: int) -> int:
    return (value + unit - 1) // unit * unit


def _check_at_least(argument: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{argument} is {value}: must be at least {least}")


def _node_ranks_to_come(ranks: int) -> int:
    """Ranks of a node in a job that has not been joined yet, from torchrun's variable. 0: as the library knows, else
    one node."""
    local_size = os.environ.get("LOCAL_WORLD_SIZE", "")
    here = int(local_size) if local_size.isdigit() and not is_initialized() else 0
    return here if 0 < here <= ranks and ranks % here == 0 else 0


class Config:
    """DeepEP's tuning numbers. They are accepted and kept; the number of blocks that move tokens is the buffer's
    (`Buffer.set_num_sms` before it is made), and chunk sizes have no counterpart."""

    def __init__(
        self,
        num_sms: int = 20,
        num_max_nvl_chunked_send_tokens: int = 6,
        num_max_nvl_chunked_recv_tokens: int = 256,
        num_max_rdma_chunked_send_tokens: int = 6,
        num_max_rdma_chunked_recv_tokens: int = 256,
    ) -> None:
        self.num_sms = num_sms
        self.num_max_nvl_chunked_send_tokens = num_max_nvl_chunked_send_tokens
        self.num_max_nvl_chunked_recv_tokens = num_max_nvl_chunked_recv_tokens
        self.num_max_rdma_chunked_send_tokens = num_max_rdma_chunked_send_tokens
        self.num_max_rdma_chunked_recv_tokens = num_max_rdma_chunked_recv_tokens

    def get_nvl_buffer_size_hint(self, hidden_bytes: int, num_ranks: int) -> int:
        """Bytes for num_nvl_bytes, enough for 4096 tokens from each of `num_ranks` ranks (at most 16) to one rank.

        hidden_bytes: of a token's elements, 2 each. A Buffer that is made of these bytes without hidden= takes the
        hidden that was asked for here. For other numbers of tokens give the Buffer num_max_recv_tokens=. Between nodes
        a token takes memory in both hops. The number of nodes is known in a job that has been joined, or under
        torchrun.
        """
        _check_at_least("hidden_bytes", hidden_bytes, 1)
        _check_at_least("num_ranks", num_ranks, 1)
        hidden = _round_up((hidden_bytes + 1) // 2, _BLOCK)
        limits = Limits(
            hidden=hidden,
            experts=_round_up(_DEFAULT_EXPERTS, num_ranks),
            recv_tokens=_HINT_TOKENS * min(num_ranks, _HINT_RANKS),
            node_ranks=_node_ranks_to_come(num_ranks),
        )
        return _remember(_asked, limits.bytes(num_ranks), hidden)

    def get_rdma_buffer_size_hint(self, hidden_bytes: int, num_ranks: int) -> int:
        """Bytes for num_rdma_bytes: 0, since memory between nodes is part of num_nvl_bytes."""
        _check_at_least("hidden_bytes", hidden_bytes, 1)
        _check_at_least("num_ranks", num_ranks, 1)
        return 0


@dataclass
class Limits:
    """What a buffer is made for. All ranks have the same."""
    hidden: int = _DEFAULT_HIDDEN
    topk: int = _DEFAULT_TOPK
    experts: int = _DEFAULT_EXPERTS
    recv_tokens: int = 1
    low_latency_tokens: int = 0
    blocks: int = 0  # 0: the library's choice
    node_ranks: int = 0
    timeout_ms: int = 0

    def options(self, team: int = 0) -> Any:
        chosen = {"blocks": self.blocks} if self.blocks > 0 else {}
        return native.BufferOptions(team=team, hidden_max=self.hidden, topk_max=self.topk, experts_max=self.experts,
                                    recv_tokens_max=self.recv_tokens, low_latency_tokens_max=self.low_latency_tokens,
                                    node_ranks=self.node_ranks, low_latency_timeout_s=self.timeout_ms / 1000, **chosen)

    def bytes(self, ranks: int) -> int:
        """Of symmetric memory that a buffer takes on each rank."""
        return native.Buffer.size_hint(self.options(), ranks)

    def row(self) -> "list[int]":
        return [getattr(self, one.name) for one in fields(self)]


def low_latency_bytes(tokens: int, hidden: int, ranks: int, experts: int) -> int:
    """What the low-latency mode adds to a buffer."""
    least = Limits(hidden=hidden, experts=experts)
    whole = Limits(hidden=hidden, experts=experts, low_latency_tokens=tokens)
    return whole.bytes(ranks) - least.bytes(ranks)


def low_latency_hint(tokens: int, hidden: int, ranks: int, experts: int) -> int:
    _check_at_least("num_max_dispatch_tokens_per_rank", tokens, 1)
    return _remember(_asked_low_latency, low_latency_bytes(tokens, hidden, ranks, experts), (tokens, hidden, experts))


def _first(*values: Optional[int]) -> int:
    return next(value for value in values if value is not None)


def limits_for(ranks: int, num_nvl_bytes: int, num_rdma_bytes: int, low_latency_mode: bool, hidden: Optional[int],
               num_topk: Optional[int], num_experts: Optional[int], num_max_recv_tokens: Optional[int],
               num_max_dispatch_tokens_per_rank: Optional[int], node_ranks: Optional[int], blocks: int,
               timeout_s: float) -> Limits:
    """The limits of a buffer; ValueError says which argument is missing or too small."""
    _check_at_least("num_nvl_bytes", num_nvl_bytes, 0)
    _check_at_least("num_rdma_bytes", num_rdma_bytes, 0)
    hint = _recall(_asked_low_latency, num_rdma_bytes) if low_latency_mode else None
    hint_tokens, hint_hidden, hint_experts = hint or (None, None, None)
    # Each mode counts with what was asked for it; the buffer has room for the longer rows of the two.
    hiddens = [_first(_recall(_asked, num_nvl_bytes), _DEFAULT_HIDDEN)] if num_nvl_bytes > 0 else []
    hiddens += [] if hint_hidden is None else [hint_hidden]
    limits = Limits(hidden=_first(hidden, max(hiddens, default=_DEFAULT_HIDDEN)), topk=_first(num_topk, _DEFAULT_TOPK),
                    experts=_first(num_experts, hint_experts, _round_up(_DEFAULT_EXPERTS, ranks)), blocks=blocks,
                    node_ranks=_first(node_ranks, 0), timeout_ms=round(timeout_s * 1000))
    throughput = num_max_recv_tokens is not None or num_nvl_bytes > 0 or (num_rdma_bytes > 0 and not low_latency_mode)
    if not throughput and not low_latency_mode:
        raise ValueError(
            "num_nvl_bytes is 0: must be bytes for received tokens, as Config.get_nvl_buffer_size_hint gives them, "
            "or num_max_recv_tokens be given, or low_latency_mode be True"
        )
    if num_max_recv_tokens is not None:
        limits.recv_tokens = num_max_recv_tokens
    elif throughput:
        limits.recv_tokens = _tokens_in(num_nvl_bytes + (0 if low_latency_mode else num_rdma_bytes), limits, ranks)
    if low_latency_mode:
        tokens = num_max_dispatch_tokens_per_rank if num_max_dispatch_tokens_per_rank is not None else hint_tokens
        if tokens is None or (num_experts is None and hint_experts is None):
            raise ValueError(
                "low_latency_mode is True: num_max_dispatch_tokens_per_rank and num_experts must be given, or "
                "Buffer.get_low_latency_rdma_size_hint be asked before"
            )
        _check_at_least("num_max_dispatch_tokens_per_rank", tokens, 1)
        limits.low_latency_tokens = tokens
        low_latency_hidden = _first(hidden, hint_hidden, limits.hidden)
        needed = low_latency_bytes(tokens, low_latency_hidden, ranks, limits.experts)
        if num_rdma_bytes < needed and not (num_rdma_bytes == 0 and num_max_dispatch_tokens_per_rank is not None):
            raise ValueError(
                f"num_rdma_bytes is {num_rdma_bytes}: must be at least {needed} for {tokens} tokens of hidden "
                f"{low_latency_hidden} of each of {ranks} ranks, and {limits.experts} experts"
            )
    limits.bytes(ranks)  # (checks)
    return limits


def _tokens_in(budget: int, limits: Limits, ranks: int) -> int:
    """The greatest number of received tokens that fit into the bytes."""

    def needed(tokens: int) -> int:
        return Limits(limits.hidden, limits.topk, limits.experts, tokens, node_ranks=limits.node_ranks).bytes(ranks)

    low, high = 1, 1 << 28
    if needed(low) > budget:
        raise ValueError(f"num_nvl_bytes is {budget}: must be at least {needed(low)} for hidden {limits.hidden} and "
                         f"{ranks} ranks; Config.get_nvl_buffer_size_hint tells how many are reasonable")
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if needed(middle) <= budget else (low, middle - 1)
    return low
