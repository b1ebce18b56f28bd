"""Symmetric tensors: the same shape in every PE's symmetric heap."""
import sys
from contextlib import suppress
from typing import Any, Sequence, Tuple, Union

from ._arrays import Library, Memory, numpy_dtype
from ._dtypes import BY_NAME, DType, dtype_of
from ._machine import native, on_cpu
from ._streams import handle_of
from ._world import generation, require_initialized

Shape = Union[int, Sequence[int]]


class SymmetricTensor:
    """A contiguous tensor that exists at every PE, made by zeros() or empty(); or, by peer(), the view of another PE's.

    It is a DLPack object: `torch.from_dlpack(tensor)`, `cupy.from_dlpack(tensor)` and, on the CPU machine,
    `numpy.asarray(tensor)` are views without a copy. Views, and contiguous parts of them, may be given wherever a call
    of this package wants symmetric memory. Views must not be used after free() or finalize().
    """

    def __init__(self, address: int, shape: Tuple[int, ...], dtype: DType, owned: bool) -> None:
        self._address = address
        self._owned = owned
        self._generation = generation()
        self._device = 0 if on_cpu else native.device()
        self.shape = shape
        self.dtype = dtype.name

    def __repr__(self) -> str:
        return f"SymmetricTensor(shape={list(self.shape)}, dtype='{self.dtype}', address={self._address:#x})"

    @property
    def address(self) -> int:
        """Where it lies, in bytes. RuntimeError after free() or finalize()."""
        if self._address == 0:
            raise RuntimeError("the symmetric tensor has been freed")
        if self._generation != generation() or not native.is_initialized():
            raise RuntimeError("the symmetric tensor belongs to a job that has been left by finalize()")
        return self._address

    @property
    def numel(self) -> int:
        """How many elements it has."""
        return _elements(self.shape)

    @property
    def nbytes(self) -> int:
        return self.numel * BY_NAME[self.dtype].bytes

    def peer(self, pe: int) -> "SymmetricTensor":
        """The same tensor in the memory of another PE, to be read and written directly. Not collective; orders nothing.

        ValueError if there is no such PE, RuntimeError if its memory cannot be reached by load and store.
        """
        check_pe(pe)
        address = native.peer_address(self.address, pe)
        if address == 0:
            raise RuntimeError(f"pe {pe} cannot be reached by load and store")
        return SymmetricTensor(address, self.shape, BY_NAME[self.dtype], False)

    def free(self) -> None:
        """Gives the memory back. Collective: all PEs call it, in the same order as other allocations and frees."""
        if not self._owned:
            raise ValueError("free() of a view of a peer's memory: must be called on the tensor itself")
        native.free(self.address)
        self._address = 0

    def torch(self) -> Any:
        """A view as torch.Tensor. Types that this PyTorch lacks come as integers of the same width."""
        import torch
        viewed = getattr(torch, self.dtype, None)
        width = BY_NAME[self.dtype].bits
        if viewed is not None and not self.dtype.startswith(("bool", "float8", "uint1", "uint3", "uint6")):
            return torch.from_dlpack(self)
        bits = torch.from_dlpack(_Bits(self, BY_NAME["uint8" if width == 8 else f"int{width}"]))
        return bits if viewed is None else bits.view(viewed)

    def numpy(self) -> Any:
        """A view as numpy.ndarray: CPU machine only. bfloat16 and FP8 come as integers, or as types of ml_dtypes where
        that has been imported."""
        import numpy
        if not on_cpu:
            raise ValueError("numpy() of a tensor in GPU memory: must be on the CPU machine; use torch() or read()")
        flat = numpy.asarray(_Bits(self, BY_NAME["uint8"], (self.nbytes,)))
        return flat.view(numpy_dtype(self.dtype, "ml_dtypes" in sys.modules)).reshape(self.shape)

    def read(self, stream: Any = None) -> bytes:
        """The contents, copied to the host behind what the stream holds. Waits."""
        content = bytearray(self.nbytes)
        self._copy(content, False, stream)
        return bytes(content)

    def write(self, content: bytes, stream: Any = None) -> None:
        """Fills the tensor from bytes of the host behind what the stream holds. Waits."""
        if len(content) != self.nbytes:
            raise ValueError(f"content has {len(content)} bytes: must have {self.nbytes}, the tensor's")
        self._copy(bytearray(content), True, stream)

    def _copy(self, host: bytearray, to_device: bool, stream: Any) -> None:
        if not host:
            return
        import ctypes
        host_address = ctypes.addressof((ctypes.c_char * len(host)).from_buffer(host))
        queue = handle_of(stream)
        native.copy(
            self.address if to_device else host_address,
            host_address if to_device else self.address,
            len(host),
            queue,
            on_cpu,
        )
        native.synchronize(queue)

    def __causeway_memory__(self) -> Memory:
        # Results of calls that make new tensors are of PyTorch where a program has it.
        device = "cpu" if on_cpu else f"cuda:{self._device}"
        library = (
            Library("torch", device)
            if "torch" in sys.modules
            else Library("numpy", small_floats="ml_dtypes" in sys.modules)
        )
        return Memory(self.address, self.shape, BY_NAME[self.dtype], True, True, self, library)

    def __dlpack__(self, **options: Any) -> Any:
        return _Bits(self, BY_NAME[self.dtype]).__dlpack__(**options)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (1, 0) if on_cpu else (2, self._device)

    @property
    def __array_interface__(self) -> "dict[str, Any]":
        return _Bits(self, BY_NAME[self.dtype]).__array_interface__


class _Bits:
    """A tensor's memory as elements of another type of the same width, or as bytes."""

    def __init__(self, tensor: SymmetricTensor, dtype: DType, shape: Any = None) -> None:
        self._tensor, self._dtype = tensor, dtype
        self._shape = tensor.shape if shape is None else shape
        self._address = tensor.address  # (checks)

    def __dlpack__(self, **options: Any) -> Any:
        device_type, device = self.__dlpack_device__()
        view = native.view(self._address, list(self._shape), self._dtype.code, self._dtype.bits, device_type, device,
                           self._tensor)
        return view.__dlpack__(**options)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self._tensor.__dlpack_device__()

    @property
    def __array_interface__(self) -> "dict[str, Any]":
        if not on_cpu:
            raise AttributeError("__array_interface__")
        kind = {0: "i", 1: "u", 2: "f", 6: "b"}.get(self._dtype.code, "u")
        return {"version": 3, "shape": tuple(self._shape), "typestr": f"<{kind}{self._dtype.bytes}",
                "data": (self._address, False)}


def _elements(shape: Sequence[int]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


def check_pe(pe: int) -> int:
    if not isinstance(pe, int) or not 0 <= pe < native.n_pes():
        raise ValueError(f"pe is {pe!r}: must be 0 to {native.n_pes() - 1}")
    return pe


_NO_SIZE = 2**64 - 1


def _make(call: str, shape: Shape, dtype: Any, zeroed: bool) -> SymmetricTensor:
    require_initialized(call)
    try:
        try:
            extents = (shape,) if isinstance(shape, int) else tuple(int(extent) for extent in shape)
        except (TypeError, ValueError):
            raise ValueError(f"shape is {shape!r}: must be an integer or a sequence of them") from None
        if any(extent < 0 for extent in extents):
            raise ValueError(f"shape is {list(extents)}: extents must be at least 0")
        found = dtype_of(dtype)
        size = max(_elements(extents) * found.bytes, 1)
        if size >= _NO_SIZE:
            raise ValueError(f"shape is {list(extents)}: a tensor of {size} bytes fits into no memory")
    except Exception:
        with suppress(RuntimeError):  # takes part with a size that nobody has, so that no other PE waits
            native.allocate(_NO_SIZE, zeroed)
        raise
    address = native.allocate(size, zeroed)
    return SymmetricTensor(address, extents, found, True)


def zeros(shape: Shape, dtype: Any = "float32") -> SymmetricTensor:
    """A symmetric tensor of zeros. Collective: all PEs call it with the same shape and type, in the same order; it
    returns when every PE's is zero.

    shape: an integer or a sequence of them. dtype: a name such as "bfloat16", a torch.dtype or a NumPy type.
    Raises ValueError for a bad shape or type, RuntimeError if PEs disagree or memory is short (on all of them).
    """
    return _make("zeros", shape, dtype, True)


def empty(shape: Shape, dtype: Any = "float32") -> SymmetricTensor:
    """zeros() without the zeros: the contents are what the memory held."""
    return _make("empty", shape, dtype, False)
