"""Low-latency mode: every token straight to the ranks of its experts, without a wait of the host."""
from typing import Any, Callable, Optional, Tuple, Union

from .._arrays import Memory, describe, transposed
from .._machine import native, on_cpu
from ._base import REFUSED, BufferBase, array, new, optional_array
from ._config import low_latency_hint
from ._events import EventOverlap

_BF16, _FP8 = "bfloat16", "float8_e4m3fn"


class LowLatencyHandle(tuple):
    """(source tokens, layout range, num_max_dispatch_tokens_per_rank, hidden, num_experts) of a low-latency dispatch.

    Source tokens: [own experts, rows] of int32, each row's token at its source. Layout range: [own experts, ranks] of
    int64, the first row of that source << 32 | its number of rows.
    """
    native: Any
    results: Any = None  # what get_next_low_latency_combine_buffer() has given for it


Hook = Union[Callable[[], None], Any]  # None without return_recv_hook; a type checker cannot know which


class LowLatencyMode(BufferBase):

    @staticmethod
    def get_low_latency_rdma_size_hint(num_max_dispatch_tokens_per_rank: int, hidden: int, num_ranks: int,
                                       num_experts: int) -> int:
        """Bytes for num_rdma_bytes: tokens that a rank may dispatch at most, elements of a token, ranks, experts over
        all ranks. A Buffer in low-latency mode that is given these bytes and no other sizes is made for these
        arguments."""
        return low_latency_hint(num_max_dispatch_tokens_per_rank, hidden, num_ranks, num_experts)

    def clean_low_latency_buffer(self, num_max_dispatch_tokens_per_rank: int, hidden: int, num_experts: int) -> None:
        """Nothing has to be cleaned: the modes have memory of their own. Checks the arguments alone."""
        self._native.checks.low_latency(num_max_dispatch_tokens_per_rank, num_experts)
        self._native.checks.hidden("hidden", hidden)

    def low_latency_dispatch(self, x: Any, topk_idx: Any, num_max_dispatch_tokens_per_rank: int, num_experts: int,
                             cumulative_local_expert_recv_stats: Optional[Any] = None,
                             dispatch_wait_recv_cost_stats: Optional[Any] = None, use_fp8: bool = True,
                             round_scale: bool = False, use_ue8m0: bool = False, async_finish: bool = False,
                             return_recv_hook: bool = False
                             ) -> Tuple[Union[Any, Tuple[Any, Any]], Any, LowLatencyHandle, EventOverlap, Hook]:
        """Sends every token to its experts' ranks. Collective: all ranks call it in the same order. A CUDA graph may
        capture it.

        x: [num_tokens, hidden] of bfloat16; topk_idx: [num_tokens, num_topk] of int64, -1 for none.
        num_max_dispatch_tokens_per_rank, num_experts: the buffer's.
        cumulative_local_expert_recv_stats: [own experts] of int32, to which received rows are added; or None.
        dispatch_wait_recv_cost_stats: [ranks], or [ranks, ranks] whose row of this rank is used, of int64: nanoseconds
            that were spent waiting for each rank are added; or None.
        use_fp8: rows are cast to FP8 (e4m3), each 128 elements by a scale. round_scale: scales are powers of two.
            use_ue8m0 (with round_scale): scales are given as exponents of one byte, four to an int32.
        return_recv_hook: the call only sends; the returned hook, to be called once, receives. At most two dispatches
            may be waiting for their hook. Not with async_finish.

        Returns (recv_x, recv_count, handle, event, hook). recv_x: [own experts, ranks * tokens, hidden], with use_fp8 a
        pair with the scales [own experts, ranks * tokens, hidden // 128] of float32 (or hidden // 512 of int32), whose
        last two dimensions are column-major. recv_count: [own experts] of int32: so many first rows of an expert are
        valid. Tensors are new ones.

        Raises ValueError for bad arguments at once on the rank that gave them, and RuntimeError on the others: in this
        call or its hook on the CPU machine, in a later one on a GPU.
        """
        ranks, own = self.group_size, self.limits.experts // self.group_size
        with self._refusing(lambda: self._native.low_latency_dispatch(
                REFUSED, native.Cast.none, native.LowLatencyOutput(), stream=self._comm_stream.cuda_stream)):
            self._native.checks.low_latency(num_max_dispatch_tokens_per_rank, num_experts)
            cast = self._cast(use_fp8, round_scale, use_ue8m0)
            self._check_finish(async_finish, return_recv_hook)
            data, output = describe(x, "x"), native.LowLatencyOutput()
            tokens = self._native.checks.low_latency_tokens(
                x=data.named("x"), topk_idx=array(topk_idx, "topk_idx"), cast=cast
            )
            self._native.checks.statistics(
                output,
                recv_total=optional_array(cumulative_local_expert_recv_stats, "cumulative_local_expert_recv_stats"),
                wait_ns=optional_array(dispatch_wait_recv_cost_stats, "dispatch_wait_recv_cost_stats"),
            )
            rows, hidden = ranks * num_max_dispatch_tokens_per_rank, tokens.hidden
            queue = self._queue(async_finish)
            recv_x, output.x = new(data.library, [own, rows, hidden], _FP8 if use_fp8 else data.dtype.name)
            scales, output.scales = self._new_scales(data, own, rows, hidden, use_fp8, use_ue8m0)
            count, output.recv_count = new(data.library, [own], "int32")
            source, output.source_token = new(data.library, [own, rows], "int32")
            ranges, output.layout_range = new(data.library, [own, ranks], "int64")
        with self._failing():
            native_handle, hook = self._native.low_latency_dispatch(tokens, cast, output, stream=queue,
                                                                    with_hook=return_recv_hook)
        handle = LowLatencyHandle((source, ranges, num_max_dispatch_tokens_per_rank, hidden, num_experts))
        handle.native = native_handle
        kept = (x, topk_idx, recv_x, scales, count, source, ranges, cumulative_local_expert_recv_stats,
                dispatch_wait_recv_cost_stats)
        event, receive = self._finish(async_finish, hook, queue, kept)
        return (recv_x, transposed(scales)) if use_fp8 else recv_x, count, handle, event, receive

    def low_latency_combine(
        self,
        x: Any,
        topk_idx: Any,
        topk_weights: Any,
        handle: LowLatencyHandle,
        use_logfmt: bool = False,
        zero_copy: bool = False,
        async_finish: bool = False,
        return_recv_hook: bool = False,
        out: Optional[Any] = None,
        combine_wait_recv_cost_stats: Optional[Any] = None,
    ) -> Tuple[Any, EventOverlap, Hook]:
        """Sums, for each token of the caller, its experts' rows times topk_weights. Collective.

        x: [own experts, ranks * tokens, hidden] of bfloat16, rows as received. topk_idx, topk_weights: [num_tokens,
            num_topk] of int64 and float32; topk_idx with the same entries as dispatched: one that is -1 by now counts
            with weight 0, another expert is an error (RuntimeError, on all ranks). handle: of the dispatch.
        zero_copy: rows are taken from the tensor that get_next_low_latency_combine_buffer(handle) has given, whatever x
            holds. (Nothing is copied in any case: rows are sent from where they are.)
        out: [num_tokens, hidden] of bfloat16 for the result; None: a new tensor.
        return_recv_hook, async_finish: as for low_latency_dispatch().
        use_logfmt, combine_wait_recv_cost_stats: not supported; ValueError.

        Returns (combined [num_tokens, hidden] bfloat16, event, hook). Sums are in float32 in a fixed order and rounded
        at most
        twice: the same bits in every run. Errors as of low_latency_dispatch().
        """
        with self._refusing(
            lambda: self._native.low_latency_combine(
                native.LowLatencyResults(), self._native.no_low_latency_handle(), stream=self._comm_stream.cuda_stream
            )
        ):
            if not isinstance(handle, LowLatencyHandle):
                raise ValueError(
                    f"handle is a {type(handle).__name__}: must be what low_latency_dispatch() has returned"
                )
            if use_logfmt:
                raise ValueError("use_logfmt is True: the LogFMT format is not supported, must be False")
            if combine_wait_recv_cost_stats is not None:
                raise ValueError("combine_wait_recv_cost_stats is given: not supported, must be None")
            self._check_finish(async_finish, return_recv_hook)
            data, sent = describe(x, "x"), handle.native
            results = self._native.checks.low_latency_results(
                sent,
                x=data.named("x"),
                topk_idx=array(topk_idx, "topk_idx"),
                topk_weights=array(topk_weights, "topk_weights"),
                out=optional_array(out, "out"),
            )
            if zero_copy:
                if handle.results is None:
                    raise ValueError("zero_copy is True: the results must be in the tensor that "
                                     "get_next_low_latency_combine_buffer(handle) gives, which has not been asked for")
                results.x = describe(handle.results, "results").address
            queue = self._queue(async_finish)
            if out is None:
                out, results.out = new(data.library, [sent.tokens, sent.hidden], data.dtype.name)
        with self._failing():
            hook = self._native.low_latency_combine(results, sent, stream=queue, with_hook=return_recv_hook)
        event, receive = self._finish(async_finish, hook, queue, (x, topk_idx, topk_weights, out, handle))
        return out, event, receive

    def get_next_low_latency_combine_buffer(self, handle: LowLatencyHandle) -> Any:
        """The handle's tensor [own experts, ranks * tokens, hidden] of bfloat16 for the results of experts, of the
        library that the dispatch's tensors are of: what low_latency_combine(zero_copy=True) sends. Without zero_copy
        any other does as well."""
        if handle.results is None:
            library = describe(handle[0], "handle").library
            shape = [self.limits.experts // self.group_size, self.group_size * handle[2], handle[3]]
            handle.results = new(library, shape, _BF16)[0]
        return handle.results

    def low_latency_update_mask_buffer(self, rank_to_mask: int, mask: bool = False) -> None:
        """Masks a rank, or takes it back: a masked one is neither sent to nor waited for, and adds nothing. Not
        collective, but two ranks that have masked each other both take the other back, when no receive, and no combine
        of a dispatch, is to come and both have made as many calls."""
        queue = self._begin(None)
        self._native.set_masked(rank_to_mask, bool(mask), stream=queue)
        self._end(False, ())

    def low_latency_query_mask_buffer(self, mask_status: Any) -> None:
        """Fills mask_status, [ranks] of int32: 1 for a masked rank, 0 for another. Not collective."""
        queue = self._begin(None)
        self._native.query_mask(array(mask_status, "mask_status"), stream=queue)
        self._end(False, ())

    def low_latency_clean_mask_buffer(self) -> None:
        """No rank is masked any more. Not collective."""
        queue = self._begin(None)
        self._native.clear_mask(stream=queue)
        self._end(False, ())

    # ---- checks

    @staticmethod
    def _check_finish(async_finish: bool, return_recv_hook: bool) -> None:
        if async_finish and return_recv_hook:
            raise ValueError("async_finish and return_recv_hook are both True: must not be")

    @staticmethod
    def _cast(use_fp8: bool, round_scale: bool, use_ue8m0: bool) -> Any:
        if use_ue8m0 and not (use_fp8 and round_scale):
            raise ValueError("use_ue8m0 is True: use_fp8 and round_scale must be True with it")
        if not use_fp8:
            return native.Cast.none
        return native.Cast.fp8_exponent if use_ue8m0 else native.Cast.fp8_rounded if round_scale else native.Cast.fp8

    @staticmethod
    def _new_scales(data: Memory, own: int, rows: int, hidden: int, use_fp8: bool, use_ue8m0: bool) -> Tuple[Any, int]:
        if not use_fp8:
            return None, 0
        return new(
            data.library, [own, hidden // (512 if use_ue8m0 else 128), rows], "int32" if use_ue8m0 else "float32"
        )

    # ---- where it runs

    def _queue(self, async_finish: bool) -> int:
        """The current stream, which need not wait for another then, or for async_finish the communication stream."""
        return self._begin(None) if async_finish or on_cpu else self._begin_on_current()

    def _finish(self, async_finish: bool, hook: Any, queue: int, kept: Tuple[Any, ...]) -> Tuple[EventOverlap, Hook]:
        if async_finish or (hook is None and on_cpu):
            return self._end(async_finish, kept), None
        if not on_cpu:
            self._end_on_current()
        if hook is None:
            return EventOverlap(), None
        if on_cpu:
            native.synchronize(queue)  # the host may change x as soon as the call returns

        def receive() -> None:
            hook(queue)
            if on_cpu:
                self._native.check(queue)
            kept  # lives as long as the hook

        return EventOverlap(), receive
