"""High-throughput mode: every token goes once to each rank that holds one of its experts."""
from typing import Any, List, Optional, Tuple, Union

from .._arrays import Memory, describe
from .._machine import native, on_cpu
from ._base import BufferBase, address, check_allocation, integer, new, optional_tensor, tensor
from ._config import Config
from ._events import EventOverlap

_BF16, _FP8 = "bfloat16", "float8_e4m3fn"


class DispatchHandle:
    """Where a dispatch sent its tokens: for combine(), and for dispatch() along the same routes. Opaque, but for these:

    num_recv_tokens: rows that this rank received (in worst-case mode num_worst_tokens).
    origin: [num_recv_tokens, 2] of int32: the rank and the token there that each row comes from. In worst-case mode None.
    """

    def __init__(self, native_handle: Any, tokens: Memory, topk: Tuple[int, ...], num_recv_tokens: int, origin: Any) -> None:
        self.native = native_handle
        self.num_tokens, self.hidden = tokens.shape
        self.num_topk = topk[1]
        self.num_recv_tokens = num_recv_tokens
        self.origin = origin


# What dispatch() returns: None where it is given a handle. (Any: a type checker cannot know which, and asks for no test.)
Handle = Union[DispatchHandle, Any]
Counts = Union[List[int], Any]


class NoHandle(DispatchHandle):
    """That of no dispatch: see ThroughputMode.no_handle()."""

    def __init__(self) -> None:
        pass


def _check_handle(handle: Any) -> None:
    if not isinstance(handle, DispatchHandle) or isinstance(handle, NoHandle):
        raise ValueError(f"handle is a {type(handle).__name__}: must be what dispatch() has returned")


def _check_config(config: Any) -> None:
    if config is not None and not isinstance(config, Config):
        raise ValueError(f"config is a {type(config).__name__}: must be a causeway.ep.Config, or None")


class _Input:
    """x of a dispatch: bfloat16, or a pair of FP8 and scales."""

    def __init__(self, x: Any, hidden_max: int, shape: Tuple[Optional[int], Optional[int]] = (None, None)) -> None:
        data, scales = x if isinstance(x, tuple) else (x, None)
        self.copied = False
        wanted = [_BF16] if scales is None else [_FP8]
        self.x = tensor(data, "x" if scales is None else "x[0]", wanted, shape, "[num_tokens, hidden]")
        hidden = self.x.shape[1]
        unit = 8 if scales is None else 128
        if not 0 < hidden <= hidden_max or hidden % unit != 0:
            raise ValueError(f"x has hidden {hidden}: must be a multiple of {unit} up to the buffer's {hidden_max}")
        if scales is not None and not describe(scales, "x[1]").contiguous:
            scales = scales.contiguous() if hasattr(scales, "contiguous") else scales.copy(order="C")
            self.copied = True
        self.scales = optional_tensor(scales, "x[1]", ["float32"], (self.x.shape[0], hidden // 128),
                                      "[num_tokens, hidden // 128]")


class ThroughputMode(BufferBase):
    num_sms: int

    def get_dispatch_layout(self, topk_idx: Any, num_experts: int, previous_event: Optional[EventOverlap] = None,
                            async_finish: bool = False, allocate_on_comm_stream: bool = False
                            ) -> Tuple[Any, Optional[Any], Any, Any, EventOverlap]:
        """Counts where tokens are to go. Not collective.

        topk_idx: [num_tokens, num_topk] of int64, the experts of each token, -1 for none. num_experts: over all ranks, a
        multiple of them; rank r holds experts r * num_experts / ranks and on.

        Returns (num_tokens_per_rank [ranks] int32, num_tokens_per_rdma_rank [nodes] int32 or None in one node,
        num_tokens_per_expert [num_experts] int32, is_token_in_rank [num_tokens, ranks] bool, event).
        """
        check_allocation(previous_event, async_finish, allocate_on_comm_stream)
        num_experts = integer(num_experts, "num_experts", self.group_size, self.limits.experts, "the ranks to the buffer's")
        idx = tensor(topk_idx, "topk_idx", ["int64"], (None, None), "[num_tokens, num_topk]")
        ranks, nodes = self.group_size, self._nodes()
        comm = self._begin(previous_event)
        with self._allocating(allocate_on_comm_stream):
            per_rank, per_rank_at = new(idx.library, [ranks], "int32")
            per_node, per_node_at = new(idx.library, [nodes], "int32") if nodes > 1 else (None, 0)
            per_expert, per_expert_at = new(idx.library, [num_experts], "int32")
            in_rank, in_rank_at = new(idx.library, [idx.shape[0], ranks], "bool")
        self._native.dispatch_layout(idx.address, *idx.shape, num_experts, per_rank_at, per_node_at, per_expert_at, in_rank_at,
                                     comm)
        event = self._end(async_finish, (topk_idx, per_rank, per_node, per_expert, in_rank), allocate_on_comm_stream)
        return per_rank, per_node, per_expert, in_rank, event

    def dispatch(self, x: Union[Any, Tuple[Any, Any]], handle: Optional[DispatchHandle] = None,
                 num_tokens_per_rank: Optional[Any] = None, num_tokens_per_rdma_rank: Optional[Any] = None,
                 is_token_in_rank: Optional[Any] = None, num_tokens_per_expert: Optional[Any] = None,
                 topk_idx: Optional[Any] = None, topk_weights: Optional[Any] = None, expert_alignment: int = 1,
                 num_worst_tokens: int = 0, config: Optional[Config] = None, previous_event: Optional[EventOverlap] = None,
                 async_finish: bool = False, allocate_on_comm_stream: bool = False
                 ) -> Tuple[Any, Any, Any, Counts, Handle, EventOverlap]:
        """Sends every token to the ranks that hold its experts. Collective: all ranks call it in the same order.

        x: [num_tokens, hidden] of bfloat16, or a pair of FP8 (e4m3) and scales [num_tokens, hidden // 128] of float32. Ranks may
            have different numbers of tokens, 0 too.
        handle: of an earlier dispatch: the same routes again, for x alone, without a wait of the host.
        topk_idx: [num_tokens, num_topk] of int64, -1 for none; topk_weights: the same shape of float32, or None.
        num_tokens_per_expert: of get_dispatch_layout; only its length, the number of experts, is used. None: the buffer's.
        num_tokens_per_rank, num_tokens_per_rdma_rank, is_token_in_rank: of get_dispatch_layout; their shapes are checked, their
            contents not used: they follow from topk_idx. config: accepted.
        expert_alignment: what the counts in the returned list are rounded up to.
        num_worst_tokens: not 0: the host does not wait (so that a CUDA graph can capture the call), and results have so many
            rows; those that did not come are -1 in recv_topk_idx. On all ranks the same, at most the buffer's
            num_max_recv_tokens; a rank that would receive more is an error on all.
        previous_event: waited for instead of the current stream.
        async_finish: the current stream does not wait; the returned event tells the end.

        Returns (recv_x as x with received rows, recv_topk_idx that counts own experts from 0 with -1 for others',
        recv_topk_weights (0 for others') or None, received tokens of each own expert (empty in worst-case mode), handle, event);
        with `handle` given (recv_x, None, None, None, None, event). Rows are ordered by source rank (by its place in its node,
        then its node, where there are several), then as there.

        Raises on all ranks: ValueError for bad arguments of any of them, RuntimeError if a rank would receive more than the
        buffer was made for. In worst-case mode and with `handle` a rank that was right gets a RuntimeError that names the rank
        that was not: in this call on the CPU machine, in a later one on a GPU.
        """
        if handle is not None:
            return self._dispatch_again(x, handle, topk_idx, topk_weights, previous_event, async_finish,
                                        allocate_on_comm_stream)
        worst_case = num_worst_tokens not in (0, False)
        with self._refusing(lambda: self._native.dispatch(0, 0, 0, 0, -1, 128, 1, self.group_size, 1,
                                                          self._comm_stream.cuda_stream,
                                                          self.limits.recv_tokens if worst_case else 0)):
            check_allocation(previous_event, async_finish, allocate_on_comm_stream)
            given = _Input(x, self.limits.hidden)
            if topk_idx is None:
                raise ValueError("topk_idx is None: must be [num_tokens, num_topk] of int64, unless a handle is given")
            idx = tensor(topk_idx, "topk_idx", ["int64"], (given.x.shape[0], None), "[num_tokens, num_topk]")
            weights = optional_tensor(topk_weights, "topk_weights", ["float32"], idx.shape, "[num_tokens, num_topk]")
            experts = self.limits.experts
            if num_tokens_per_expert is not None:
                experts = tensor(num_tokens_per_expert, "num_tokens_per_expert", ["int32"], (None,), "[num_experts]").shape[0]
            self._check_layout(idx.shape[0], num_tokens_per_rank, num_tokens_per_rdma_rank, is_token_in_rank)
            _check_config(config)
            expert_alignment = integer(expert_alignment, "expert_alignment", 1, 1 << 20, "tokens")
            num_worst_tokens = integer(num_worst_tokens, "num_worst_tokens", 0, self.limits.recv_tokens,
                                       "the tokens that the buffer was made to receive, num_max_recv_tokens")
            comm = self._begin(previous_event, given.copied)
        with self._failing():
            rows, x_at, scales_at, idx_at, weights_at, origin_at, _, per_expert, native_handle = self._native.dispatch(
                given.x.address, address(given.scales), idx.address, address(weights), *given.x.shape, idx.shape[1], experts,
                expert_alignment, comm, num_worst_tokens)
        rows = num_worst_tokens or rows
        with self._allocating(allocate_on_comm_stream):
            recv_x, tensors = self._copy_x(given, rows, x_at, scales_at, comm)
            recv_idx = self._copied(given, [rows, idx.shape[1]], "int64", 8, idx_at, comm)
            recv_weights = self._copied(given, [rows, idx.shape[1]], "float32", 4, weights_at, comm) if weights else None
            origin = self._copied(given, [rows, 2], "int32", 4, origin_at, comm)
        made = DispatchHandle(native_handle, given.x, idx.shape, rows, origin)
        event = self._end(async_finish, (*tensors, topk_idx, topk_weights, recv_idx, recv_weights, origin),
                          allocate_on_comm_stream)
        return recv_x, recv_idx, recv_weights, [] if worst_case else per_expert, made, event

    def _dispatch_again(self, x: Any, handle: DispatchHandle, topk_idx: Any, topk_weights: Any,
                        previous_event: Optional[EventOverlap], async_finish: bool, allocate_on_comm_stream: bool) -> Any:
        with self._refusing(lambda: self._native.dispatch_again(self._native.no_handle(), 8, 0, self._comm_stream.cuda_stream)):
            check_allocation(previous_event, async_finish, allocate_on_comm_stream)
            _check_handle(handle)
            if topk_idx is not None or topk_weights is not None:
                raise ValueError("topk_idx and topk_weights are given with a handle: must be None, the routes are the handle's")
            given = _Input(x, self.limits.hidden, (handle.num_tokens, handle.hidden))
            comm = self._begin(previous_event, given.copied)
        with self._failing():
            _, x_at, scales_at, *_ = self._native.dispatch_again(handle.native, given.x.address, address(given.scales), comm)
        with self._allocating(allocate_on_comm_stream):
            recv_x, tensors = self._copy_x(given, handle.num_recv_tokens, x_at, scales_at, comm)
        return recv_x, None, None, None, None, self._end(async_finish, tensors, allocate_on_comm_stream)

    def combine(self, x: Any, handle: DispatchHandle, topk_weights: Optional[Any] = None,
                bias: Union[Any, Tuple[Any, Any], None] = None, config: Optional[Config] = None,
                previous_event: Optional[EventOverlap] = None, async_finish: bool = False,
                allocate_on_comm_stream: bool = False) -> Tuple[Any, Optional[Any], EventOverlap]:
        """Sums, for each token of the caller, the rows that its copies became (without weights). Collective.

        x: [received, hidden] of bfloat16, a row for each that dispatch() returned with `handle`.
        topk_weights: [received, num_topk] of float32, summed likewise; or None.
        bias: [num_tokens, hidden] of bfloat16, or a pair of them, added to the sums.
        config: accepted. previous_event, async_finish, allocate_on_comm_stream: as for dispatch().

        Returns (combined [num_tokens, hidden] bfloat16, summed weights [num_tokens, num_topk] or None, event). Sums are in
        float32 in the order of ranks, rounded once on each hop: the same bits in every run.

        Raises ValueError for bad arguments at once on the rank that gave them, and RuntimeError on the others: in this call on
        the CPU machine, in a later one on a GPU.
        """
        with self._refusing(lambda: self._native.combine(8, 0, 0, 0, self._native.no_handle(), 8, 0,
                                                         self._comm_stream.cuda_stream)):
            check_allocation(previous_event, async_finish, allocate_on_comm_stream)
            _check_handle(handle)
            _check_config(config)
            rows, topk, tokens, hidden = handle.num_recv_tokens, handle.num_topk, handle.num_tokens, handle.hidden
            data = tensor(x, "x", [_BF16], (rows, hidden), "[received, hidden]")
            weights = optional_tensor(topk_weights, "topk_weights", ["float32"], (rows, topk), "[received, num_topk]")
            pair = bias if isinstance(bias, tuple) else (bias, None)
            if len(pair) != 2:
                raise ValueError(f"bias is a tuple of {len(pair)}: must be a tensor or a pair of them")
            biases = [optional_tensor(one, f"bias[{i}]", [_BF16], (tokens, hidden), "[num_tokens, hidden]")
                      for i, one in enumerate(pair)]
            comm = self._begin(previous_event)
            with self._allocating(allocate_on_comm_stream):
                out, out_at = new(data.library, [tokens, hidden], data.dtype.name)
                out_weights, out_weights_at = new(data.library, [tokens, topk], "float32") if weights else (None, 0)
        with self._failing():
            self._native.combine(data.address, address(weights), address(biases[0]), address(biases[1]), handle.native, out_at,
                                 out_weights_at, comm)
        event = self._end(async_finish, (x, topk_weights, *pair, out, out_weights), allocate_on_comm_stream)
        return out, out_weights, event

    @staticmethod
    def no_handle() -> DispatchHandle:
        """A handle for a rank whose dispatch has raised: with it combine() and dispatch() along the same routes take part in what
        the others do with theirs, and raise. (None in its place is well for combine(), and a new dispatch for dispatch().)"""
        return NoHandle()

    def internode_dispatch(self, x: Union[Any, Tuple[Any, Any]], handle: Optional[DispatchHandle] = None,
                           num_tokens_per_rank: Optional[Any] = None, num_tokens_per_rdma_rank: Optional[Any] = None,
                           is_token_in_rank: Optional[Any] = None, num_tokens_per_expert: Optional[Any] = None,
                           topk_idx: Optional[Any] = None, topk_weights: Optional[Any] = None, expert_alignment: int = 1,
                           config: Optional[Config] = None, previous_event: Optional[EventOverlap] = None,
                           async_finish: bool = False, allocate_on_comm_stream: bool = False
                           ) -> Tuple[Any, Any, Any, Counts, Handle, EventOverlap]:
        """dispatch(), which itself knows whether there are several nodes."""
        return self.dispatch(x, handle, num_tokens_per_rank, num_tokens_per_rdma_rank, is_token_in_rank, num_tokens_per_expert,
                             topk_idx, topk_weights, expert_alignment, 0, config, previous_event, async_finish,
                             allocate_on_comm_stream)

    def internode_combine(self, x: Any, handle: DispatchHandle, topk_weights: Optional[Any] = None,
                          bias: Union[Any, Tuple[Any, Any], None] = None, config: Optional[Config] = None,
                          previous_event: Optional[EventOverlap] = None, async_finish: bool = False,
                          allocate_on_comm_stream: bool = False) -> Tuple[Any, Optional[Any], EventOverlap]:
        """combine(), which itself knows whether there are several nodes."""
        return self.combine(x, handle, topk_weights, bias, config, previous_event, async_finish, allocate_on_comm_stream)

    def _nodes(self) -> int:
        return self.group_size // int(self._native.node_ranks)

    def _check_layout(self, tokens: int, per_rank: Any, per_node: Any, in_rank: Any) -> None:
        optional_tensor(per_rank, "num_tokens_per_rank", ["int32"], (self.group_size,), "[ranks]")
        optional_tensor(per_node, "num_tokens_per_rdma_rank", ["int32"], (self._nodes(),), "[nodes]")
        optional_tensor(in_rank, "is_token_in_rank", ["bool"], (tokens, self.group_size), "[num_tokens, ranks]")

    def _copy_x(self, given: _Input, rows: int, x_at: int, scales_at: int, comm: int) -> Tuple[Any, Tuple[Any, ...]]:
        """Received rows as x was given; and all tensors that the copy needs alive."""
        hidden, dtype = given.x.shape[1], given.x.dtype
        recv_x = self._copied(given, [rows, hidden], dtype.name, dtype.bytes, x_at, comm)
        if given.scales is None:
            return recv_x, (given.x.owner, recv_x)
        recv_scales = self._copied(given, [rows, hidden // 128], "float32", 4, scales_at, comm)
        return (recv_x, recv_scales), (given.x.owner, given.scales.owner, recv_x, recv_scales)

    @staticmethod
    def _copied(given: _Input, shape: List[int], dtype: str, width: int, source: int, comm: int) -> Any:
        made, at = new(given.x.library, shape, dtype)
        native.copy(at, source, shape[0] * shape[1] * width, comm, on_cpu)
        return made
