"""High-throughput mode: every token goes once to each rank that holds one of its experts."""
from typing import Any, List, Optional, Tuple, Union

from .._arrays import describe
from .._machine import native, on_cpu
from ._base import REFUSED, BufferBase, array, check_allocation, new, optional_array
from ._config import Config
from ._events import EventOverlap


class DispatchHandle:
    """Where a dispatch sent its tokens: for combine(), and for dispatch() along the same routes. Opaque, but for these:

    num_recv_tokens: rows that this rank received (in worst-case mode num_worst_tokens).
    origin: [num_recv_tokens, 2] of int32: the rank and the token there that each row comes from. In worst-case mode
    None.
    """

    def __init__(self, native_handle: Any, origin: Any) -> None:
        self.native = native_handle
        self.num_recv_tokens: int = native_handle.rows
        self.origin = origin


# What dispatch() returns: None where it is given a handle. (Any: a type checker cannot know which, and asks for no
# test.)
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

    def __init__(self, x: Any) -> None:
        data, scales = x if isinstance(x, tuple) else (x, None)
        self.copied = scales is not None and not describe(scales, "x[1]").contiguous
        if self.copied:
            scales = scales.contiguous() if hasattr(scales, "contiguous") else scales.copy(order="C")
        name = "x" if scales is None else "x[0]"
        self.memory = describe(data, name)
        self.x, self.scales = self.memory.named(name), optional_array(scales, "x[1]")
        self.tensors = (data, scales)  # to be kept alive


class ThroughputMode(BufferBase):
    num_sms: int

    def get_dispatch_layout(self, topk_idx: Any, num_experts: int, previous_event: Optional[EventOverlap] = None,
                            async_finish: bool = False, allocate_on_comm_stream: bool = False
                            ) -> Tuple[Any, Optional[Any], Any, Any, EventOverlap]:
        """Counts where tokens are to go. Not collective.

        topk_idx: [num_tokens, num_topk] of int64, the experts of each token, -1 for none. num_experts: over all ranks,
        a multiple of them; rank r holds experts r * num_experts / ranks and on.

        Returns (num_tokens_per_rank [ranks] int32, num_tokens_per_rdma_rank [nodes] int32 or None in one node,
        num_tokens_per_expert [num_experts] int32, is_token_in_rank [num_tokens, ranks] bool, event).
        """
        check_allocation(previous_event, async_finish, allocate_on_comm_stream)
        idx = describe(topk_idx, "topk_idx")
        routes = self._native.checks.routes(idx.named("topk_idx"), num_experts)
        ranks, nodes = self.group_size, self.group_size // int(self._native.node_ranks)
        comm = self._begin(previous_event)
        with self._allocating(allocate_on_comm_stream):
            per_rank, per_rank_at = new(idx.library, [ranks], "int32")
            per_node, per_node_at = new(idx.library, [nodes], "int32") if nodes > 1 else (None, 0)
            per_expert, per_expert_at = new(idx.library, [routes.experts], "int32")
            in_rank, in_rank_at = new(idx.library, [routes.tokens, ranks], "bool")
        self._native.dispatch_layout(routes, tokens_per_rank=per_rank_at, tokens_per_node=per_node_at,
                                     tokens_per_expert=per_expert_at, token_in_rank=in_rank_at, stream=comm)
        event = self._end(async_finish, (topk_idx, per_rank, per_node, per_expert, in_rank), allocate_on_comm_stream)
        return per_rank, per_node, per_expert, in_rank, event

    def dispatch(
        self,
        x: Union[Any, Tuple[Any, Any]],
        handle: Optional[DispatchHandle] = None,
        num_tokens_per_rank: Optional[Any] = None,
        num_tokens_per_rdma_rank: Optional[Any] = None,
        is_token_in_rank: Optional[Any] = None,
        num_tokens_per_expert: Optional[Any] = None,
        topk_idx: Optional[Any] = None,
        topk_weights: Optional[Any] = None,
        expert_alignment: int = 1,
        num_worst_tokens: int = 0,
        config: Optional[Config] = None,
        previous_event: Optional[EventOverlap] = None,
        async_finish: bool = False,
        allocate_on_comm_stream: bool = False,
    ) -> Tuple[Any, Any, Any, Counts, Handle, EventOverlap]:
        """Sends every token to the ranks that hold its experts. Collective: all ranks call it in the same order.

        x: [num_tokens, hidden] of bfloat16, or a pair of FP8 (e4m3) and scales [num_tokens, hidden // 128] of float32.
            Ranks may have different numbers of tokens, 0 too.
        handle: of an earlier dispatch: the same routes again, for x alone, without a wait of the host.
        topk_idx: [num_tokens, num_topk] of int64, -1 for none; topk_weights: the same shape of float32, or None.
        num_tokens_per_expert: of get_dispatch_layout; only its length, the number of experts, is used. None: the
        buffer's.
        num_tokens_per_rank, num_tokens_per_rdma_rank, is_token_in_rank: of get_dispatch_layout; their shapes are
            checked, their contents not used: they follow from topk_idx. config: accepted.
        expert_alignment: what the counts in the returned list are rounded up to.
        num_worst_tokens: not 0: the host does not wait (so that a CUDA graph can capture the call), and results have so
            many rows; those that did not come are -1 in recv_topk_idx. On all ranks the same, at most the buffer's
            num_max_recv_tokens; a rank that would receive more is an error on all.
        previous_event: waited for instead of the current stream.
        async_finish: the current stream does not wait. The returned event marks the end.

        Returns (recv_x as x with received rows, recv_topk_idx that counts own experts from 0 with -1 for others',
        recv_topk_weights (0 for others') or None, received tokens of each own expert (empty in worst-case mode),
        handle, event); with `handle` given (recv_x, None, None, None, None, event). Rows are ordered by source rank (by
        its number in its node, then its node, where there are several), then as there.

        Raises on all ranks: ValueError for bad arguments of any of them, RuntimeError if a rank would receive more than
        the buffer was made for. In worst-case mode and with `handle` a rank that was right gets a RuntimeError that
        names the rank
        that was not: in this call on the CPU machine, in a later one on a GPU.
        """
        if handle is not None:
            return self._dispatch_again(x, handle, topk_idx, topk_weights, previous_event, async_finish,
                                        allocate_on_comm_stream)
        worst_case = num_worst_tokens not in (0, False)
        with self._refusing(lambda: self._dispatch(REFUSED, 1, self.limits.recv_tokens if worst_case else 0,
                                                   self._comm_stream.cuda_stream)):
            check_allocation(previous_event, async_finish, allocate_on_comm_stream)
            _check_config(config)
            given = _Input(x)
            if topk_idx is None:
                raise ValueError("topk_idx is None: must be [num_tokens, num_topk] of int64, unless a handle is given")
            tokens = self._native.checks.tokens(
                x=given.x, scales=given.scales, topk_idx=array(topk_idx, "topk_idx"),
                topk_weights=optional_array(topk_weights, "topk_weights"),
                per_expert=optional_array(num_tokens_per_expert, "num_tokens_per_expert"),
                per_rank=optional_array(num_tokens_per_rank, "num_tokens_per_rank"),
                per_node=optional_array(num_tokens_per_rdma_rank, "num_tokens_per_rdma_rank"),
                in_rank=optional_array(is_token_in_rank, "is_token_in_rank"))
            alignment = self._native.checks.alignment(expert_alignment)
            worst_rows = self._native.checks.worst_rows(num_worst_tokens)
            comm = self._begin(previous_event, given.copied)
        with self._failing():
            received = self._dispatch(tokens, alignment, worst_rows, comm)
        rows, topk = received.tokens, tokens.topk
        with self._allocating(allocate_on_comm_stream):
            recv_x, tensors = self._copy_x(given, rows, received, comm)
            recv_idx = self._copied(given, [rows, topk], "int64", 8, received.topk_idx, comm)
            recv_weights = None
            if topk_weights is not None:
                recv_weights = self._copied(given, [rows, topk], "float32", 4, received.topk_weights, comm)
            origin = self._copied(given, [rows, 2], "int32", 4, received.origin, comm)
        made = DispatchHandle(received.handle, origin)
        event = self._end(async_finish, (*tensors, topk_idx, topk_weights, recv_idx, recv_weights, origin),
                          allocate_on_comm_stream)
        return recv_x, recv_idx, recv_weights, received.tokens_of_expert, made, event

    def _dispatch(self, tokens: Any, alignment: int, worst_rows: int, comm: int) -> Any:
        if worst_rows > 0:
            return self._native.dispatch_worst_case(tokens, rows=worst_rows, stream=comm)
        return self._native.dispatch(tokens, expert_alignment=alignment, stream=comm)

    def _dispatch_again(
        self,
        x: Any,
        handle: DispatchHandle,
        topk_idx: Any,
        topk_weights: Any,
        previous_event: Optional[EventOverlap],
        async_finish: bool,
        allocate_on_comm_stream: bool,
    ) -> Any:
        with self._refusing(lambda: self._native.dispatch_again(self._native.no_handle(), REFUSED,
                                                                stream=self._comm_stream.cuda_stream)):
            check_allocation(previous_event, async_finish, allocate_on_comm_stream)
            _check_handle(handle)
            if topk_idx is not None or topk_weights is not None:
                raise ValueError(
                    "topk_idx and topk_weights are given with a handle: must be None, the routes are the handle's"
                )
            given = _Input(x)
            tokens = self._native.checks.tokens_again(handle.native, x=given.x, scales=given.scales)
            comm = self._begin(previous_event, given.copied)
        with self._failing():
            received = self._native.dispatch_again(handle.native, tokens, stream=comm)
        with self._allocating(allocate_on_comm_stream):
            recv_x, tensors = self._copy_x(given, handle.num_recv_tokens, received, comm)
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

        Returns (combined [num_tokens, hidden] bfloat16, summed weights [num_tokens, num_topk] or None, event). Sums are
        in
        float32 in the order of ranks, rounded once on each hop: the same bits in every run.

        Raises ValueError for bad arguments at once on the rank that gave them, and RuntimeError on the others: in this
        call on the CPU machine, in a later one on a GPU.
        """
        with self._refusing(lambda: self._native.combine(native.Results(), self._native.no_handle(),
                                                         stream=self._comm_stream.cuda_stream)):
            check_allocation(previous_event, async_finish, allocate_on_comm_stream)
            _check_handle(handle)
            _check_config(config)
            pair = bias if isinstance(bias, tuple) else (bias, None)
            if len(pair) != 2:
                raise ValueError(f"bias is a tuple of {len(pair)}: must be a tensor or a pair of them")
            data, sent = describe(x, "x"), handle.native
            results = self._native.checks.results(
                sent, x=data.named("x"), topk_weights=optional_array(topk_weights, "topk_weights"),
                bias_0=optional_array(pair[0], "bias[0]"), bias_1=optional_array(pair[1], "bias[1]"))
            comm = self._begin(previous_event)
            with self._allocating(allocate_on_comm_stream):
                out, out_at = new(data.library, [sent.tokens, sent.hidden], data.dtype.name)
                out_weights, out_weights_at = None, 0
                if topk_weights is not None:
                    out_weights, out_weights_at = new(data.library, [sent.tokens, sent.topk], "float32")
        with self._failing():
            self._native.combine(results, sent, out=out_at, out_weights=out_weights_at, stream=comm)
        event = self._end(async_finish, (x, topk_weights, *pair, out, out_weights), allocate_on_comm_stream)
        return out, out_weights, event

    @staticmethod
    def no_handle() -> DispatchHandle:
        """A handle for a rank whose dispatch has raised: with it combine() and dispatch() along the same routes take
        part in what the others do with theirs, and raise. (None instead is right for combine(), and a new dispatch for
        dispatch().)"""
        return NoHandle()

    def internode_dispatch(
        self,
        x: Union[Any, Tuple[Any, Any]],
        handle: Optional[DispatchHandle] = None,
        num_tokens_per_rank: Optional[Any] = None,
        num_tokens_per_rdma_rank: Optional[Any] = None,
        is_token_in_rank: Optional[Any] = None,
        num_tokens_per_expert: Optional[Any] = None,
        topk_idx: Optional[Any] = None,
        topk_weights: Optional[Any] = None,
        expert_alignment: int = 1,
        config: Optional[Config] = None,
        previous_event: Optional[EventOverlap] = None,
        async_finish: bool = False,
        allocate_on_comm_stream: bool = False,
    ) -> Tuple[Any, Any, Any, Counts, Handle, EventOverlap]:
        """dispatch(), which itself knows whether there are several nodes."""
        return self.dispatch(
            x,
            handle,
            num_tokens_per_rank,
            num_tokens_per_rdma_rank,
            is_token_in_rank,
            num_tokens_per_expert,
            topk_idx,
            topk_weights,
            expert_alignment,
            0,
            config,
            previous_event,
            async_finish,
            allocate_on_comm_stream,
        )

    def internode_combine(self, x: Any, handle: DispatchHandle, topk_weights: Optional[Any] = None,
                          bias: Union[Any, Tuple[Any, Any], None] = None, config: Optional[Config] = None,
                          previous_event: Optional[EventOverlap] = None, async_finish: bool = False,
                          allocate_on_comm_stream: bool = False) -> Tuple[Any, Optional[Any], EventOverlap]:
        """combine(), which itself knows whether there are several nodes."""
        return self.combine(
            x, handle, topk_weights, bias, config, previous_event, async_finish, allocate_on_comm_stream
        )

    def _copy_x(self, given: _Input, rows: int, received: Any, comm: int) -> Tuple[Any, Tuple[Any, ...]]:
        """Received rows as x was given; and all tensors that the copy needs alive."""
        hidden, dtype = given.memory.shape[1], given.memory.dtype
        recv_x = self._copied(given, [rows, hidden], dtype.name, dtype.bytes, received.x, comm)
        if given.scales is None:
            return recv_x, (*given.tensors, recv_x)
        recv_scales = self._copied(given, [rows, hidden // 128], "float32", 4, received.scales, comm)
        return (recv_x, recv_scales), (*given.tensors, recv_x, recv_scales)

    @staticmethod
    def _copied(given: _Input, shape: List[int], dtype: str, width: int, source: int, comm: int) -> Any:
        made, at = new(given.memory.library, shape, dtype)
        native.copy(at, source, shape[0] * shape[1] * width, comm, on_cpu)
        return made
