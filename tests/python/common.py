"""What the scripts of this folder share: checks that say where, and numbers in bfloat16 and FP8 by NumPy alone."""
import os
import re
import sys
import traceback
from typing import Any, Callable, Type

import numpy as np

import causeway


def require(condition: bool, what: str) -> None:
    if not condition:
        raise AssertionError(what)


def same(got: Any, wanted: Any, what: str) -> None:
    got, wanted = np.asarray(got), np.asarray(wanted)
    require(got.shape == wanted.shape, f"{what}: shape {got.shape}, wanted {wanted.shape}")
    if not np.array_equal(got, wanted):
        where = np.argwhere(got != wanted)[0] if got.ndim else ()
        at = tuple(int(index) for index in where)
        raise AssertionError(
            f"{what}: {np.count_nonzero(got != wanted)} of {got.size} elements differ, the first at {at}: "
            f"{got[at]}, wanted {wanted[at]}"
        )


def raises(kind: Type[Exception], pattern: str, call: Callable[[], Any]) -> None:
    """The call must raise exactly this kind, with a text that contains the pattern."""
    try:
        call()
    except Exception as problem:  # noqa: BLE001
        require(type(problem) is kind and re.search(pattern, str(problem)) is not None,
                f"raised {type(problem).__name__}: {problem}\n  wanted {kind.__name__} with '{pattern}'")
        return
    raise AssertionError(f"raised nothing, wanted {kind.__name__} with '{pattern}'")


def to_bf16(values: np.ndarray) -> np.ndarray:
    """Bits of the nearest bfloat16, ties to even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _e4m3_table() -> np.ndarray:
    codes = np.arange(256)
    exponent, fraction = codes >> 3 & 15, codes & 7
    magnitude = np.where(exponent == 0, fraction / 512.0, (8 + fraction) / 8.0 * 2.0 ** (exponent - 7.0))
    table = np.where(codes & 128, -magnitude, magnitude)
    table[[0x7F, 0xFF]] = np.nan
    return table.astype(np.float32)


E4M3 = _e4m3_table()  # the value of each code


def to_e4m3(values: np.ndarray) -> np.ndarray:
    """Codes of the nearest e4m3 numbers (ties to the even code), up to 448 in magnitude."""
    positive = E4M3[:127]
    magnitude = np.minimum(np.abs(values.astype(np.float64)), 448.0)
    upper = np.clip(np.searchsorted(positive, magnitude), 1, 126)
    below, above = positive[upper - 1], positive[upper]
    nearer_above = (magnitude - below > above - magnitude) | (
        (magnitude - below == above - magnitude) & (upper % 2 == 0)
    )
    codes = np.where(nearer_above, upper, upper - 1)
    return (codes | np.where(np.signbit(values), 128, 0)).astype(np.uint8)


def main(body: Callable[[], None]) -> None:
    """Runs a script's body; the first failure ends the job, with the PE's number before the text."""
    try:
        body()
    except BaseException:
        pe = causeway.my_pe() if causeway.is_initialized() else "?"
        sys.stdout.flush()
        sys.stderr.write("".join(f"PE {pe}: {line}\n" for line in traceback.format_exc().splitlines()))
        sys.stderr.flush()
        os._exit(1)  # (without destructors: the others are in the middle of something)
