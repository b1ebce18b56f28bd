"""Where programs of DeepEP look for the event classes: `from causeway.ep.utils import EventOverlap`."""
from ._events import EventHandle, EventOverlap

__all__ = ["EventHandle", "EventOverlap"]
