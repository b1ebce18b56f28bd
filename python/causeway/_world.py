"""Joining and leaving a job."""
import os
import sys
import weakref
from typing import Any, Callable, List, Optional

from ._machine import native, on_cpu
from ._streams import forget_own_team

_generation = 0  # counts worlds: what belongs to an earlier one is gone
_at_finalize: List["weakref.WeakMethod[Callable[[], None]]"] = []
_store: Any = None  # keeps a rendezvous store alive
_rendezvous = 0  # counts meetings by a store: it keeps what earlier ones have left there


def is_initialized() -> bool:
    return native.is_initialized()


def require_initialized(call: str) -> None:
    if not native.is_initialized():
        raise RuntimeError(f"{call} before causeway.init() or after causeway.finalize()")


def generation() -> int:
    return _generation


def before_finalize(method: Callable[[], None]) -> None:
    """Has a bound method called by finalize() if its object still lives then."""
    _at_finalize.append(weakref.WeakMethod(method))


def unique_id() -> bytes:
    """An id for a job to meet by: one PE makes it, all PEs give it to init(). Not collective."""
    return native.unique_id()


def init(
    group: Any = None,
    *,
    unique_id: Optional[bytes] = None,
    rank: Optional[int] = None,
    size: Optional[int] = None,
    device: Optional[int] = None,
) -> None:
    """Joins the job. Collective: every PE calls it; it returns when all have come. Calls after the first change
    nothing.

    group: a torch.distributed process group or an mpi4py communicator, whose ranks become the PEs. None: the job of
        `causeway run`, else the processes of torchrun (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT; needs PyTorch), else
        those of mpirun (needs mpi4py), else a job of one PE.
    unique_id, rank, size: instead of a group an id of causeway.unique_id(), this PE's number and how many there are.
    device: number of this PE's GPU. None: the one that PyTorch uses, else LOCAL_RANK, else the PE's number in its node,
        modulo the number of GPUs. Without effect on the CPU machine.

    Raises ValueError for bad arguments, RuntimeError if the others cannot be reached.
    """
    global _generation
    if native.is_initialized():
        return
    if unique_id is not None:
        if group is not None or rank is None or size is None:
            raise ValueError(
                f"unique_id is given with group {group!r}, rank {rank!r}, size {size!r}: must come with rank and "
                "size, and without group"
            )
        if not 0 <= rank < size:
            raise ValueError(f"rank is {rank}, size is {size}: rank must be 0 to size less 1")
    _select_device(device)
    if unique_id is not None:
        native.init_by_id(unique_id, rank, size)
    elif group is not None:
        _init_by_group(group)
    elif "CAUSEWAY_PES" in os.environ:
        native.init()
    elif int(os.environ.get("WORLD_SIZE", "1")) > 1 and "MASTER_ADDR" in os.environ:
        _init_by_torchrun()
    elif any(int(os.environ.get(name, "1")) > 1 for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")):
        _init_by_mpi()
    else:
        native.init()
    _generation += 1


def finalize() -> None:
    """Leaves the job: completes all work and frees what is left. Collective: every PE calls it. Memory of symmetric
    tensors, and views of it, must not be used afterwards."""
    require_initialized("finalize")
    for method in _at_finalize:
        alive = method()
        if alive is not None:
            alive()
    _at_finalize.clear()
    forget_own_team()
    native.finalize()


def my_pe() -> int:
    """This PE's number, 0 to n_pes() less 1."""
    require_initialized("my_pe")
    return native.my_pe()


def n_pes() -> int:
    """How many PEs the job has."""
    require_initialized("n_pes")
    return native.n_pes()


def broadcast_object(group: Any, make: Callable[[], Any]) -> Any:
    """What rank 0 of a process group or communicator makes. Collective over the group."""
    if hasattr(group, "Get_rank"):
        return group.bcast(make() if group.Get_rank() == 0 else None, root=0)
    distributed = sys.modules["torch"].distributed
    first = distributed.get_global_rank(group, 0) if hasattr(distributed, "get_global_rank") else 0
    box = [make() if group.rank() == 0 else None]
    distributed.broadcast_object_list(box, src=first, group=group)
    return box[0]


def gather_objects(group: Any, mine: Any) -> List[Any]:
    """What each rank of a process group or communicator gives, by rank. Collective over the group."""
    if hasattr(group, "Get_rank"):
        return group.allgather(mine)
    gathered: List[Any] = [None] * group.size()
    sys.modules["torch"].distributed.all_gather_object(gathered, mine, group=group)
    return gathered


def group_rank_and_size(group: Any) -> "tuple[int, int]":
    if hasattr(group, "Get_rank"):
        return group.Get_rank(), group.Get_size()
    if callable(getattr(group, "rank", None)) and callable(getattr(group, "size", None)):
        return group.rank(), group.size()
    raise ValueError(
        f"group is a {type(group).__name__}: must be a torch.distributed process group or an mpi4py communicator"
    )


def _init_by_group(group: Any) -> None:
    rank, size = group_rank_and_size(group)
    native.init_by_id(broadcast_object(group, native.unique_id), rank, size)


def _init_by_torchrun() -> None:
    global _store, _rendezvous
    try:
        import torch.distributed as distributed
    except ImportError as problem:
        raise RuntimeError(
            "WORLD_SIZE and MASTER_ADDR are set, as torchrun does, and PyTorch cannot be imported: start the "
            "program by causeway run, or give init() a unique_id"
        ) from problem
    if distributed.is_initialized():
        return _init_by_group(distributed.group.WORLD)
    _store, rank, size = next(iter(distributed.rendezvous("env://")))
    _rendezvous += 1  # on all ranks alike, because init is collective
    key = f"causeway/unique_id/{_rendezvous}"
    if rank == 0:
        _store.set(key, native.unique_id())
    native.init_by_id(bytes(_store.get(key)), rank, size)


def _init_by_mpi() -> None:
    try:
        from mpi4py import MPI
    except ImportError as problem:
        raise RuntimeError(
            "this is a process of mpirun, and mpi4py cannot be imported: install it, start the program by "
            "causeway run, or give init() a unique_id"
        ) from problem
    _init_by_group(MPI.COMM_WORLD)


def _select_device(device: Optional[int]) -> None:
    if on_cpu:
        return
    count = native.device_count()
    if count == 0:
        raise RuntimeError("there is no GPU for the CUDA machine: CAUSEWAY_MACHINE=cpu chooses the other")
    torch = sys.modules.get("torch")
    if device is None and torch is not None and torch.cuda.is_initialized():
        device = torch.cuda.current_device()
    if device is None:
        variables = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "CAUSEWAY_PE")
        device = int(next((os.environ[name] for name in variables if name in os.environ), "0")) % count
    if not 0 <= device < count:
        raise ValueError(f"device is {device}: must be 0 to {count - 1}, the GPUs that this process sees")
    native.set_device(device)
