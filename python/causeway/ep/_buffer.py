"""The buffer itself: its making and its end."""
import struct
import sys
from typing import Any, Optional, Union

from .._collectives import fcollect
from .._dtypes import BY_NAME
from .._machine import machine, native, on_cpu
from .._streams import Stream, on_check
from .._teams import Team, number_of, team_of_group, world
from .._tensor import SymmetricTensor, empty
from .._world import before_finalize, init, is_initialized
from ._base import BufferBase
from ._config import Config, Limits, limits_for
from ._events import EventHandle, EventOverlap
from ._low_latency import LowLatencyMode
from ._throughput import ThroughputMode

_FIELDS = ("hidden", "num_topk", "num_experts", "num_max_recv_tokens", "num_max_dispatch_tokens_per_rank", "num_sms",
           "node_ranks", "low_latency_timeout_s")
_BAD = -1  # in place of limits: the rank's arguments are bad


class _Destroyed:
    """In place of the native buffer after its end."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("the buffer has been destroyed")


class Buffer(ThroughputMode, LowLatencyMode):
    """Moves the tokens of mixture-of-experts layers between ranks, with the interface of DeepEP's Buffer.

    Its memory has fixed limits: tokens that a rank may receive in a dispatch, elements of a token, and so on. They are
    given exactly by the keyword-only arguments, or follow from bytes of size hints (see __init__).

    rank, group_size: this rank and how many there are. group: as given. limits: what the buffer was made for.
    """

    num_sms: int = 20
    _chosen_num_sms: int = 0
    # (attributes of the class, too: __del__ also runs for an object whose constructor has raised)
    _native: Any = None
    _made_team: bool = False
    explicitly_destroy: bool = False

    def __init__(
        self,
        group: Any = None,
        num_nvl_bytes: int = 0,
        num_rdma_bytes: int = 0,
        low_latency_mode: bool = False,
        num_qps_per_rank: int = 24,
        allow_nvlink_for_low_latency_mode: bool = True,
        allow_mnnvl: bool = False,
        explicitly_destroy: bool = False,
        comm: Any = None,
        *,
        hidden: Optional[int] = None,
        num_topk: Optional[int] = None,
        num_experts: Optional[int] = None,
        num_max_recv_tokens: Optional[int] = None,
        num_max_dispatch_tokens_per_rank: Optional[int] = None,
        node_ranks: Optional[int] = None,
        low_latency_timeout_s: float = 0.0,
    ) -> None:
        """Collective: all PEs of the job make the buffer (each for its group), with the same arguments.

        group: a torch.distributed process group; a causeway.Team; or None: all PEs. A job that has not been joined is
            joined, by the group. comm: an mpi4py communicator instead.
        num_nvl_bytes: memory for received tokens. With hidden, num_topk and num_experts it says how many tokens a rank
            may receive, unless num_max_recv_tokens does. Without low_latency_mode num_rdma_bytes is added to it.
        num_rdma_bytes: with low_latency_mode: at least what get_low_latency_rdma_size_hint said.
        low_latency_mode: makes the low-latency mode available, beside the other.
        explicitly_destroy: the buffer ends by destroy() alone. Otherwise also with its last reference.
        num_qps_per_rank, allow_nvlink_for_low_latency_mode, allow_mnnvl: accepted without effect.
        hidden: elements of a token at most. None: what the size hints of the given bytes were asked for, else 7168.
        num_topk: experts of a token at most. None: 16.
        num_experts: over all ranks at most; in low-latency mode exactly, a multiple of the ranks. None: as hinted, else
        1024.
        num_max_recv_tokens: that a rank may receive in a dispatch, on each hop.
        num_max_dispatch_tokens_per_rank: of a rank in low-latency mode. None: as hinted.
        node_ranks: ranks of a node, consecutive ones. None: as the job's nodes are.
        low_latency_timeout_s: a rank for which a low-latency wait lasts longer is masked. 0: never.

        Raises ValueError on all ranks for bad arguments of one, or different ones; RuntimeError if memory is short.
        """
        group = comm if group is None else group
        self.group = group
        self.explicitly_destroy = explicitly_destroy
        if not is_initialized():
            init(None if isinstance(group, Team) else group)
        if group is None or isinstance(group, Team):
            self._team, self._made_team = (world if group is None else group), False
        else:
            self._team, self._made_team = team_of_group(group)
        number = number_of(self._team)
        self.rank, self.group_size = self._team.my_pe, self._team.n_pes
        self.num_nvl_bytes, self.num_rdma_bytes, self.low_latency_mode = num_nvl_bytes, num_rdma_bytes, low_latency_mode
        problem: Optional[ValueError] = None
        limits = Limits()
        try:
            limits = limits_for(
                self.group_size,
                num_nvl_bytes,
                num_rdma_bytes,
                low_latency_mode,
                hidden,
                num_topk,
                num_experts,
                num_max_recv_tokens,
                num_max_dispatch_tokens_per_rank,
                node_ranks,
                Buffer._chosen_num_sms,
                low_latency_timeout_s,
            )
        except ValueError as found:
            problem = found
        try:
            self._agree(limits, problem)
        except ValueError:  # (on all ranks)
            if self._made_team:
                self._team.destroy()
            raise
        self.limits = limits
        BufferBase.__init__(self)
        self._native = native.Buffer(limits.options(number))
        self.runtime = self._native
        before_finalize(self._end_with_world)
        on_check(self._look)

    def _agree(self, limits: Limits, problem: Optional[ValueError]) -> None:
        """All ranks raise if one has bad arguments, or others than rank 0."""
        row = limits.row() if problem is None else [_BAD] * len(_FIELDS)
        # (of the same size in groups of different sizes, which make their buffers at the same time)
        mine, memory = empty(len(row), "int64"), empty((world.n_pes, len(row)), "int64")
        all_rows = SymmetricTensor(memory.address, (self.group_size, len(row)), BY_NAME["int64"], False)
        mine.write(struct.pack(f"{len(row)}q", *row))
        fcollect(all_rows, mine, self._team)
        content = struct.unpack(f"{len(row) * self.group_size}q", all_rows.read())
        mine.free()
        memory.free()
        if problem is not None:
            raise problem
        rows = [content[i * len(row):(i + 1) * len(row)] for i in range(self.group_size)]
        for rank, other in enumerate(rows):
            if other[0] == _BAD:
                raise ValueError(f"rank {rank} made the Buffer with bad arguments: its own error says which")
            for name, value, first in zip(_FIELDS, other, rows[0]):
                if value != first:
                    raise ValueError(
                        f"{name} is {first} on rank 0 and {value} on rank {rank}: must be the same on all ranks"
                    )

    def destroy(self) -> None:
        """Gives the memory back; handles and hooks of the buffer end with it. Collective: all PEs call it."""
        if self._native is None or isinstance(self._native, _Destroyed):
            return
        self._wait_for_all()
        ending, self._native = self._native, _Destroyed()
        self.runtime = self._native
        ending.destroy()
        if self._made_team:
            self._team.destroy()

    def _end_with_world(self) -> None:
        self.destroy()

    def _look(self, stream: int) -> None:
        if self._native is not None and not isinstance(self._native, _Destroyed):
            self._native.check(stream)

    def __del__(self) -> None:
        # At the end of the program other ranks may have ended: nothing collective then.
        if not sys.is_finalizing() and not self.explicitly_destroy and is_initialized():
            self.destroy()

    @staticmethod
    def is_sm90_compiled() -> bool:
        """Whether code for compute capability 9.0 is there: on the CUDA machine."""
        return not on_cpu

    @staticmethod
    def set_num_sms(new_num_sms: int) -> None:
        """How many blocks move tokens in the high-throughput mode of buffers that are made from now on; an even number.
        The same on all ranks. Without it the library chooses."""
        if new_num_sms < 2 or new_num_sms % 2 != 0:
            raise ValueError(f"new_num_sms is {new_num_sms}: must be an even number of at least 2")
        Buffer.num_sms = Buffer._chosen_num_sms = new_num_sms

    @staticmethod
    def get_dispatch_config(num_ranks: int) -> Config:
        """A Config for num_ranks ranks, of which any number is accepted."""
        if num_ranks < 1:
            raise ValueError(f"num_ranks is {num_ranks}: must be at least 1")
        return Config(Buffer.num_sms)

    @staticmethod
    def get_combine_config(num_ranks: int) -> Config:
        """A Config for num_ranks ranks, of which any number is accepted."""
        return Buffer.get_dispatch_config(num_ranks)

    @staticmethod
    def capture() -> EventOverlap:
        """An event at what the current stream holds now, for previous_event."""
        return EventOverlap(EventHandle())

    def get_comm_stream(self) -> Union[Stream, Any]:
        """The stream that the buffer's work runs on: with PyTorch on GPUs a torch.cuda.Stream, else a
        causeway.Stream."""
        torch = sys.modules.get("torch")
        if machine == "cuda" and torch is not None:
            return torch.cuda.ExternalStream(self._comm_stream.cuda_stream)
        return self._comm_stream
