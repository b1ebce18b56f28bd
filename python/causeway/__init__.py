"""Causeway: one address space for the GPUs of a job, from Python.

Every processing element (PE, one process) has a symmetric heap; any PE reads and writes every other PE's by `put`,
`get` and collectives on a stream, or directly through `SymmetricTensor.peer`.

    import causeway
    causeway.init()                                   # under: causeway run -n 4 python prog.py
    inbox = causeway.zeros(1, "int64")
    outbox = causeway.zeros(1, "int64")
    ...
    causeway.put(inbox, outbox, (causeway.my_pe() + 1) % causeway.n_pes())
    causeway.barrier()
    causeway.finalize()

`causeway.ep` has a buffer for mixture-of-experts layers with the interface of DeepEP's.

The package runs on GPUs (`causeway.machine == "cuda"`) and, with GPU threads on CPU cores, without ("cpu"):
CAUSEWAY_MACHINE chooses, else cuda is taken where it has been built and a GPU is present. Bad arguments are a
ValueError that names the argument, its value and what is accepted; other failures are a RuntimeError. Calls are for one
thread of a process at a time.
"""
from ._collectives import alltoall, broadcast, fcollect, reduce, reducescatter
from ._machine import machine, native as _native
from ._streams import Event, Stream, synchronize
from ._teams import Team, node, world
from ._tensor import SymmetricTensor, empty, zeros
from ._transfer import barrier, get, put, put_signal, quiet, signal, signal_wait, sync
from ._world import finalize, init, is_initialized, my_pe, n_pes, unique_id

__version__: str = _native.version

__all__ = [
    "Event",
    "Stream",
    "SymmetricTensor",
    "Team",
    "alltoall",
    "barrier",
    "broadcast",
    "empty",
    "fcollect",
    "finalize",
    "get",
    "init",
    "is_initialized",
    "machine",
    "my_pe",
    "n_pes",
    "node",
    "put",
    "put_signal",
    "quiet",
    "reduce",
    "reducescatter",
    "signal",
    "signal_wait",
    "sync",
    "synchronize",
    "unique_id",
    "world",
    "zeros",
]
