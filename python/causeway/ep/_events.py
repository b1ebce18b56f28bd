"""What a call hands out to wait for."""
from typing import Any, Optional, Tuple

from .._streams import Event


class EventHandle(Event):
    """An event at what the current stream holds when it is made."""

    def __init__(self) -> None:
        super().__init__()
        self.record()


class EventOverlap:
    """The end of a call that was made with async_finish, to overlap with other work:

        ..., event = buffer.combine(x, handle, async_finish=True)
        with event:
            ...          # does not need the result
        # here the current stream has waited for it

    event: None where the call has waited already. extra_tensors: kept alive as long as this object.
    """

    def __init__(self, event: Optional[Event] = None, extra_tensors: Optional[Tuple[Any, ...]] = None) -> None:
        self.event = event
        self.extra_tensors = extra_tensors

    def current_stream_wait(self) -> None:
        """The current stream (on the CPU machine: the host) waits for the event. ValueError if there is none."""
        if self.event is None:
            raise ValueError("event is None: must be of a call with async_finish=True or of Buffer.capture()")
        self.event.current_stream_wait()

    def __enter__(self) -> "EventOverlap":
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        if self.event is not None:
            self.event.current_stream_wait()
