"""Arrays of PyTorch, NumPy, CuPy and whatever else has `__dlpack__`: their addresses, and new ones of the same library.

No array library is imported here: an argument's own library is loaded already.
"""
import importlib
import sys
from dataclasses import dataclass
from typing import Any, Sequence, Tuple

from ._dtypes import DType, dtype_by_code, dtype_of
from ._machine import native, on_cpu

_DLPACK_CPU, _DLPACK_CUDA, _DLPACK_CUDA_MANAGED = 1, 2, 13
# Types that a library may lack, and what carries their bits there.
_BITS_OF = {
    "bfloat16": "uint16",
    "float8_e4m3fn": "uint8",
    "float8_e5m2": "uint8",
    "uint16": "int16",
    "uint32": "int32",
    "uint64": "int64",
}


@dataclass(frozen=True)
class Library:
    """An array library, and where its new arrays go. `small_floats`: it has types for bfloat16 and FP8."""
    name: str
    device: Any = None
    small_floats: bool = True


@dataclass(frozen=True)
class Memory:
    """An array as the library below sees it. `owner` keeps the memory alive."""
    address: int
    shape: Tuple[int, ...]
    dtype: DType
    contiguous: bool
    on_device: bool  # memory that kernels of this machine work on
    owner: Any
    library: Library

    @property
    def elements(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def bytes(self) -> int:
        return self.elements * self.dtype.bytes

    def named(self, argument: str) -> Any:
        """For checks by the extension, whose errors name the argument."""
        return native.Array(name=argument, address=self.address, shape=self.shape, type=self.dtype.name,
                            contiguous=self.contiguous, on_device=self.on_device)


def _is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    expected = 1
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent > 1 and stride != expected:
            return False
        expected *= extent
    return True


def _of_torch(tensor: Any) -> Memory:
    return Memory(tensor.data_ptr(), tuple(tensor.shape), dtype_of(tensor.dtype), tensor.is_contiguous(),
                  tensor.device.type == ("cpu" if on_cpu else "cuda"), tensor, Library("torch", tensor.device))


def _of_numpy(array: Any) -> Memory:
    small_floats = array.dtype.name in _BITS_OF and array.dtype.isbuiltin != 1  # (1: NumPy's own)
    return Memory(array.__array_interface__["data"][0], array.shape, dtype_of(array.dtype), array.flags.c_contiguous,
                  on_cpu, array, Library("numpy", small_floats=small_floats))


def describe(array: Any, argument: str) -> Memory:
    """An array's address. `argument` is its name in errors."""
    own = getattr(array, "__causeway_memory__", None)
    if own is not None:
        return own()
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    try:
        if torch is not None and isinstance(array, torch.Tensor):
            return _of_torch(array)
        if numpy is not None and isinstance(array, numpy.ndarray):
            return _of_numpy(array)
    except ValueError as problem:
        raise ValueError(f"{argument}: {problem}") from None
    if not hasattr(array, "__dlpack__"):
        raise ValueError(
            f"{argument} is a {type(array).__name__}: must be a tensor of PyTorch, NumPy or CuPy, or another "
            "object with __dlpack__"
        )
    address, shape, strides, code, bits, device_type, _ = native.describe(array)
    on_device = device_type == _DLPACK_CPU if on_cpu else device_type in (_DLPACK_CUDA, _DLPACK_CUDA_MANAGED)
    library = Library(type(array).__module__.split(".")[0], small_floats=False)
    return Memory(address, shape, dtype_by_code(code, bits), _is_contiguous(shape, strides), on_device, array, library)


def check_contiguous(memory: Memory, argument: str) -> Memory:
    if not memory.contiguous:
        raise ValueError(
            f"{argument} of shape {list(memory.shape)} is not contiguous: must be (rows one after the other)"
        )
    return memory


def make(library: Library, shape: Sequence[int], dtype: str) -> Any:
    """A new array of that library, not filled. Where the library lacks the type, of the unsigned type of the same
    width."""
    if library.name == "torch":
        torch = sys.modules["torch"]
        found = getattr(torch, dtype, None) or getattr(torch, _BITS_OF.get(dtype, dtype))
        return torch.empty(tuple(shape), dtype=found, device=library.device)
    if library.name in ("numpy", "cupy"):
        return importlib.import_module(library.name).empty(tuple(shape), dtype=numpy_dtype(dtype, library.small_floats))
    raise ValueError(f"results cannot be made as arrays of {library.name}: give tensors of PyTorch, NumPy or CuPy")


def numpy_dtype(dtype: str, small_floats: bool) -> Any:
    if dtype not in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        return dtype
    return getattr(sys.modules["ml_dtypes"], dtype) if small_floats else _BITS_OF[dtype]


def transposed(array: Any) -> Any:
    """A view with the last two dimensions exchanged."""
    return array.transpose(1, 2) if hasattr(array, "data_ptr") else array.swapaxes(1, 2)
