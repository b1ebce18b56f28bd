"""Streams and events, and which stream a call without one uses."""
import sys
import weakref
from contextlib import suppress
from typing import Any, Callable, List, Optional, Tuple

from ._machine import native, on_cpu


class Stream:
    """A stream of its own: what is queued on it runs in order, beside other streams. Not collective.

    PyTorch takes it as `torch.cuda.ExternalStream(stream.cuda_stream)`; any call of this package as `stream=`.
    """

    def __init__(self) -> None:
        self.cuda_stream: int = native.make_stream()  # the handle, a cudaStream_t

    def __cuda_stream__(self) -> Tuple[int, int]:
        return (0, self.cuda_stream)

    def synchronize(self) -> None:
        """Waits for all that has been queued. RuntimeError if an operation on it has failed."""
        synchronize(self)

    def wait_event(self, event: "Event") -> None:
        """What is queued from now on waits for the event."""
        native.stream_wait_event(self.cuda_stream, event.handle)

    def __del__(self) -> None:
        if getattr(self, "cuda_stream", 0):
            native.destroy_stream(self.cuda_stream)


class Event:
    """A point in a stream: `record` sets it, streams and the host wait for it. Not collective."""

    def __init__(self) -> None:
        self.handle: int = native.make_event()

    def record(self, stream: Any = None) -> "Event":
        native.record_event(self.handle, handle_of(stream))
        return self

    def is_done(self) -> bool:
        return native.event_is_done(self.handle)

    def synchronize(self) -> None:
        """Waits on the host."""
        native.synchronize_event(self.handle)

    def current_stream_wait(self) -> None:
        """The current stream waits. On the CPU machine, whose tensors the host reads, the host waits."""
        if on_cpu:
            self.synchronize()
        else:
            native.stream_wait_event(current_stream(), self.handle)

    def __del__(self) -> None:
        if getattr(self, "handle", 0):
            native.destroy_event(self.handle)


_host_stream: Optional[Stream] = None


def current_stream() -> int:
    """The stream of a call that is given none: PyTorch's or CuPy's current one, else the default stream. On the CPU
    machine one of this package's own, for which the call then waits."""
    global _host_stream
    if on_cpu:
        if _host_stream is None:
            _host_stream = Stream()
        return _host_stream.cuda_stream
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return torch.cuda.current_stream().cuda_stream
    cupy = sys.modules.get("cupy")
    return cupy.cuda.get_current_stream().ptr if cupy is not None else 0


def handle_of(stream: Any) -> int:
    """The handle of a stream: None (the current one), an integer, or an object of PyTorch, CuPy or cuda.core."""
    if stream is None:
        return current_stream()
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "cuda_stream"):
        return int(stream.cuda_stream)
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    if hasattr(stream, "ptr"):
        return int(stream.ptr)
    raise ValueError(
        f"stream is a {type(stream).__name__}: must be None, an integer handle, or an object with cuda_stream or "
        "__cuda_stream__"
    )


_own_team = -1  # of this PE alone: its meeting answers with the faults that kernels have left


_looks: List["weakref.WeakMethod[Callable[[int], None]]"] = (
    []
)  # at what kernels of an object have reported, like a Buffer's


def on_check(look: Callable[[int], None]) -> None:
    """Has a bound method called by check_faults() while its object exists, with a stream that has ended."""
    _looks[:] = [one for one in _looks if one() is not None]
    _looks.append(weakref.WeakMethod(look))


def check_faults(stream: int) -> None:
    """RuntimeError if a kernel of this package has reported a fault since the last check. stream: one that
    has ended."""
    global _own_team
    if not native.is_bound():
        return
    for one in list(_looks):
        look = one()
        if look is not None:
            look(stream)
    if _own_team < 0:
        _own_team = native.team_make(native.team_unique_id(), 1, 0)
    native.sync(_own_team, current_stream())


def forget_own_team() -> None:
    global _own_team
    if _own_team >= 0:
        native.team_destroy(_own_team)
    _own_team = -1


def synchronize(stream: Any = None) -> None:
    """Waits for all that has been queued on a stream (None: the current one). Not collective.

    Raises RuntimeError if an operation has failed on the way: a fault in a kernel is known only when it has run.
    """
    handle = handle_of(stream)
    native.synchronize(handle)
    check_faults(handle)


def run_on(stream: Any, call: Callable[[int], None]) -> None:
    """Queues an operation. Without a stream on the CPU machine it is complete on return: host code reads the
    tensors."""
    call(handle_of(stream))
    if stream is None and on_cpu:
        synchronize()


def take_part(stream: Any, call: Callable[[int], None]) -> None:
    """With bad arguments: queues a collective operation all the same, so that no other PE waits. Its errors are the
    others'. (The stream itself may be what is bad.)"""
    try:
        handle_of(stream)
    except ValueError:
        stream = None
    with suppress(ValueError, RuntimeError):
        run_on(stream, call)
