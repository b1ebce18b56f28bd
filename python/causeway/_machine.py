"""Which machine this process uses, and its extension module."""
import importlib
import os
from types import ModuleType
from typing import Optional


def _load(name: str) -> ModuleType:
    return importlib.import_module(f"causeway._{name}")


def _load_or_none(name: str) -> Optional[ModuleType]:
    try:
        return _load(name)
    except ImportError:
        return None


def choose(wanted: Optional[str]) -> ModuleType:
    """The extension for CAUSEWAY_MACHINE (`wanted`), else cuda where it was built and a GPU is present, else cpu."""
    if wanted:
        if wanted not in ("cpu", "cuda"):
            raise ValueError(f"CAUSEWAY_MACHINE is '{wanted}': must be cpu or cuda")
        try:
            return _load(wanted)
        except ImportError as problem:
            raise ImportError(
                f"CAUSEWAY_MACHINE is '{wanted}', and this installation cannot load it: {problem}"
            ) from problem
    cuda = _load_or_none("cuda")
    if cuda is not None and cuda.device_count() > 0:
        return cuda
    return _load("cpu")


native = choose(os.environ.get("CAUSEWAY_MACHINE"))
machine: str = native.machine
on_cpu: bool = machine == "cpu"
