"""What the modes of the buffer share: its native part, the communication stream, and tensors as the extension sees
them."""
import contextlib
import sys
from typing import Any, Callable, Iterator, List, Optional, Sequence, Tuple

from .._arrays import Library, describe, make
from .._machine import native, on_cpu
from .._streams import Event, Stream, current_stream
from ._config import Limits
from ._events import EventOverlap

REFUSED = native.Tokens(tokens=-1, hidden=128, topk=1)  # that no dispatch takes


class BufferBase:
    _native: Any
    limits: Limits
    rank: int
    group_size: int

    def __init__(self) -> None:
        self._comm_stream = Stream()
        self._in_flight: List[Tuple[Event, Tuple[Any, ...]]] = []

    # ---- where a call runs

    def _begin(self, previous_event: Optional[EventOverlap], also_current: bool = False) -> int:
        """The communication stream, which waits for the previous event, or for what the current stream holds. Tensors
        of the CPU machine are ready when the call is made."""
        self._let_go()
        event = getattr(previous_event, "event", None)
        if event is not None:
            self._comm_stream.wait_event(event)
        if not on_cpu and (event is None or also_current):
            self._comm_stream.wait_event(Event().record())
        return self._comm_stream.cuda_stream

    def _end(self, async_finish: bool, tensors: Sequence[Any], on_comm_stream: bool = False) -> EventOverlap:
        """The current stream waits for the communication stream, or with async_finish is given the event to wait for.
        on_comm_stream: tensors were allocated there, so their memory must not be reused before the current stream has
        finished with them, too."""
        if on_comm_stream and not on_cpu:
            for tensor in tensors:
                if hasattr(tensor, "record_stream"):
                    tensor.record_stream(sys.modules["torch"].cuda.current_stream())
        if async_finish:
            event = Event().record(self._comm_stream)
            kept = tuple(tensor for tensor in tensors if tensor is not None)
            if not self._capturing():
                self._in_flight.append((event, kept))
            return EventOverlap(event, kept)
        if on_cpu:
            self._native.check(self._comm_stream.cuda_stream)
        else:
            event = Event().record(self._comm_stream)  # (named, so that it exists until the call has ended)
            native.stream_wait_event(current_stream(), event.handle)
        return EventOverlap()

    def _begin_on_current(self) -> int:
        """The current stream, after it has been made to wait for the communication stream. Not where a graph captures
        the call."""
        self._let_go()
        queue = current_stream()
        if not self._capturing():
            event = Event().record(self._comm_stream)
            native.stream_wait_event(queue, event.handle)
        return queue

    def _end_on_current(self) -> None:
        """Makes the communication stream wait for the current one, and so any stream that a later call uses."""
        if not self._capturing():
            event = Event().record(current_stream())
            self._comm_stream.wait_event(event)

    def _let_go(self) -> None:
        """Drops the tensors of calls that have ended."""
        if not self._capturing():
            self._in_flight = [one for one in self._in_flight if not one[0].is_done()]

    def _capturing(self) -> bool:
        """Whether a CUDA graph captures the call: events must not be asked then, and the graph's owner keeps its
        tensors."""
        return not on_cpu and any(map(native.is_capturing, (current_stream(), self._comm_stream.cuda_stream)))

    @contextlib.contextmanager
    def _allocating(self, on_comm_stream: bool) -> Iterator[None]:
        torch = sys.modules.get("torch")
        if on_cpu or not on_comm_stream or torch is None:
            yield
        else:
            with torch.cuda.stream(torch.cuda.ExternalStream(self._comm_stream.cuda_stream)):
                yield

    def _wait_for_all(self) -> None:
        native.synchronize(self._comm_stream.cuda_stream)
        self._in_flight.clear()

    @contextlib.contextmanager
    def _refusing(self, take_part: Callable[[], Any]) -> Iterator[None]:
        """Around checks of a collective call's arguments. If they fail, the call is made so that the library refuses
        it: others then learn of it instead of waiting."""
        try:
            yield
        except Exception:
            with contextlib.suppress(ValueError, RuntimeError), self._failing():
                take_part()
            raise

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        """Around a call of the library. It may have queued work when it fails. On the CPU machine this waits for the
        work, and discards what the other ranks have reported about the same call: it is no fault of the next one. On a
        GPU the current and the communication stream wait for each other, since the call's tensors are released."""
        try:
            yield
        except Exception:
            if on_cpu:
                with contextlib.suppress(ValueError, RuntimeError):
                    self._native.check(self._comm_stream.cuda_stream)
            elif not self._capturing():
                event = Event().record(self._comm_stream)
                native.stream_wait_event(current_stream(), event.handle)
                self._end_on_current()
            raise


def check_allocation(previous_event: Optional[EventOverlap], async_finish: bool, allocate_on_comm_stream: bool) -> None:
    if allocate_on_comm_stream and (getattr(previous_event, "event", None) is None or not async_finish):
        raise ValueError("allocate_on_comm_stream is True: previous_event and async_finish must be given with it")


def array(given: Any, argument: str) -> Any:
    """A tensor for the extension's checks."""
    return describe(given, argument).named(argument)


def optional_array(given: Any, argument: str) -> Any:
    return None if given is None else array(given, argument)


def new(library: Library, shape: Sequence[int], dtype: str) -> Tuple[Any, int]:
    """A new tensor and its address."""
    made = make(library, shape, dtype)
    return made, describe(made, "result").address
