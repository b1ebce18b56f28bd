"""Element types: one table, found by the names that PyTorch, NumPy and ml_dtypes share."""
from typing import Any, NamedTuple


class DType(NamedTuple):
    name: str
    code: (
        int  # DLPack's kind: 0 signed, 1 unsigned, 2 floating point, 4 bfloat16, 6 bool, 10 and 12 8-bit floating point
    )
    bits: int

    @property
    def bytes(self) -> int:
        return self.bits // 8


_ALL = [DType("bool", 6, 8), DType("float16", 2, 16), DType("float32", 2, 32), DType("float64", 2, 64),
        DType("bfloat16", 4, 16), DType("float8_e4m3fn", 10, 8), DType("float8_e5m2", 12, 8)]
_ALL += [DType(f"int{bits}", 0, bits) for bits in (8, 16, 32, 64)]
_ALL += [DType(f"uint{bits}", 1, bits) for bits in (8, 16, 32, 64)]
BY_NAME = {dtype.name: dtype for dtype in _ALL}
_BY_CODE = {(dtype.code, dtype.bits): dtype for dtype in _ALL}


def dtype_of(given: Any) -> DType:
    """From a name, a torch.dtype, a NumPy dtype or a NumPy scalar type."""
    name = (
        given
        if isinstance(given, str)
        else getattr(given, "name", None) or getattr(given, "__name__", None) or str(given)
    )
    found = BY_NAME.get(name.rsplit(".", 1)[-1])
    if found is None:
        raise ValueError(f"dtype is {given!r}: must be one of {', '.join(BY_NAME)}")
    return found


def dtype_by_code(code: int, bits: int) -> DType:
    found = _BY_CODE.get((code, bits))
    if found is None:
        raise ValueError(f"elements of DLPack kind {code} with {bits} bits: must be one of {', '.join(BY_NAME)}")
    return found
