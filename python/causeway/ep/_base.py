"""What the modes of the buffer share: its native part, the communication stream, and checks of tensors."""
import contextlib
import operator
import sys
from typing import Any, Callable, Iterator, List, Optional, Sequence, Tuple

from .._arrays import Library, Memory, describe, make, same_bits
from .._machine import native, on_cpu
from .._streams import Event, Stream, current_stream
from ._config import Limits
from ._events import EventOverlap

_DEVICE = "memory of the CPU" if on_cpu else "memory of a GPU"


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
        """The communication stream, which waits for the previous event, or for what the current stream holds. Tensors of the
        CPU machine are ready when the call is made."""
        self._let_go()
        event = getattr(previous_event, "event", None)
        if event is not None:
            self._comm_stream.wait_event(event)
        if not on_cpu and (event is None or also_current):
            self._comm_stream.wait_event(Event().record())
        return self._comm_stream.cuda_stream

    def _end(self, async_finish: bool, tensors: Sequence[Any], on_comm_stream: bool = False) -> EventOverlap:
        """The current stream waits for the communication stream, or with async_finish is given the event to wait for.
        on_comm_stream: tensors were allocated there, so their memory must not be given out again before the current stream is
        through with them either."""
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
            event = Event().record(self._comm_stream)  # (named, so that it lives through the call)
            native.stream_wait_event(current_stream(), event.handle)
        return EventOverlap()

    def _begin_on_current(self) -> int:
        """The current stream, which waits for what the communication stream holds; what a graph captures is apart from that."""
        self._let_go()
        queue = current_stream()
        if not self._capturing():
            event = Event().record(self._comm_stream)
            native.stream_wait_event(queue, event.handle)
        return queue

    def _end_on_current(self) -> None:
        """The communication stream waits, and so any other stream that a call is made on later."""
        if not self._capturing():
            event = Event().record(current_stream())
            self._comm_stream.wait_event(event)

    def _let_go(self) -> None:
        """Tensors of calls that are through."""
        if not self._capturing():
            self._in_flight = [one for one in self._in_flight if not one[0].is_done()]

    def _capturing(self) -> bool:
        """Whether a CUDA graph captures the call: events must not be asked then, and the graph's owner keeps its tensors."""
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
        """Around checks of a collective call's arguments. If they fail, the call is made so that the library refuses it: others
        then learn of it instead of waiting."""
        try:
            yield
        except Exception:
            with contextlib.suppress(ValueError, RuntimeError), self._failing():
                take_part()
            raise

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        """Around a call of the library. It may have queued work when it fails. On the CPU machine that is waited for, and what the
        others have reported of the same call goes with it: it must not be taken for a fault of the next one. On a GPU the current
        and the communication stream wait for each other, since the tensors of the call are let go."""
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


def integer(given: Any, argument: str, low: int, high: int, meaning: str) -> int:
    """An int that has been checked."""
    try:
        value = operator.index(given)
    except TypeError:
        raise ValueError(f"{argument} is a {type(given).__name__}: must be an int, {low} to {high} ({meaning})") from None
    if not low <= value <= high:
        raise ValueError(f"{argument} is {value}: must be {low} to {high} ({meaning})")
    return value


def tensor(given: Any, argument: str, dtypes: Sequence[str], shape: Sequence[Any], meaning: str) -> Memory:
    """A tensor that has been checked. shape: extents, or None for any; meaning: the shape in words."""
    memory = describe(given, argument)
    if not any(same_bits(memory.dtype, dtype) for dtype in dtypes):
        raise ValueError(f"{argument} has elements of {memory.dtype.name}: must be of {' or '.join(dtypes)}")
    fits = len(memory.shape) == len(shape) and all(want is None or have == want for have, want in zip(memory.shape, shape))
    if not fits:
        wanted = f", here [{', '.join('any' if one is None else str(one) for one in shape)}]"
        raise ValueError(f"{argument} has the shape {list(memory.shape)}: must be {meaning}{wanted}")
    if not memory.contiguous:
        raise ValueError(f"{argument} of shape {list(memory.shape)} is not contiguous: must be (rows one after the other)")
    if not memory.on_device:
        raise ValueError(f"{argument} is not in {_DEVICE}: must be, on the {'CPU' if on_cpu else 'CUDA'} machine")
    return memory


def optional_tensor(given: Any, argument: str, dtypes: Sequence[str], shape: Sequence[Any], meaning: str) -> Optional[Memory]:
    return None if given is None else tensor(given, argument, dtypes, shape, meaning)


def address(memory: Optional[Memory]) -> int:
    """0 for a tensor that was not given; one without elements, which some libraries put at 0, is told apart."""
    return 0 if memory is None else memory.address or 16


def new(library: Library, shape: Sequence[int], dtype: str) -> Tuple[Any, int]:
    """A new tensor and its address."""
    made = make(library, shape, dtype)
    return made, describe(made, "result").address
