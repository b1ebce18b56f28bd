"""A buffer for mixture-of-experts layers with the interface of DeepEP's: `from causeway.ep import Buffer, Config,
EventOverlap`.

Tensors are of PyTorch, NumPy or CuPy; results are of the library of the input. NumPy has no bfloat16 and no FP8: there
they are uint16 and uint8, or the types of ml_dtypes if the input has those. On the CPU machine a call without
async_finish returns when its results are there; with it, `event.current_stream_wait()` waits for them.
"""
from ._buffer import Buffer
from ._config import Config
from ._events import EventHandle, EventOverlap
from ._low_latency import LowLatencyHandle
from ._throughput import DispatchHandle

__all__ = ["Buffer", "Config", "DispatchHandle", "EventHandle", "EventOverlap", "LowLatencyHandle"]
