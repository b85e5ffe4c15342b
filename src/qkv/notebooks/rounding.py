"""Equal up to rounding: text by its numbers, arrays by their values."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

RELATIVE = 1e-6  # float32 sums in another order differ by less; a reader reads no seventh digit
# Of float16 entries, the share that may fall to the neighbouring number. A true value changes in
# the last place of most entries; noise moves those alone that lie between two numbers.
NEIGHBOURS = 0.02
DECIMAL = re.compile(r"(\d+\.\d+(?:[eE][+-]?\d+)?)")


def same_text(first: str, second: str) -> bool:
    """Whether two texts have the same words, whole numbers and decimal places.

    Decimal numbers may differ by RELATIVE: of those with fewer than seven digits, none does.
    """
    if first == second:
        return True
    pieces = list(zip(DECIMAL.split(first), DECIMAL.split(second), strict=False))
    return len(DECIMAL.split(first)) == len(DECIMAL.split(second)) and all(
        one == other or (i % 2 == 1 and same_decimal(one, other))
        for i, (one, other) in enumerate(pieces)
    )


def same_decimal(first: str, second: str) -> bool:
    """Whether two printed decimal numbers of as many places are equal up to rounding."""
    places = [re.split("[eE]", text)[0].partition(".")[2] for text in (first, second)]
    return len(places[0]) == len(places[1]) and math.isclose(
        float(first), float(second), rel_tol=RELATIVE
    )


def same_values(first: Any, second: Any) -> bool:
    """Whether two values of JSON are equal, text and floats up to rounding."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(
            same_values(value, second[key]) for key, value in first.items()
        )
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same_values, first, second))
    if isinstance(first, str) and isinstance(second, str):
        return same_text(first, second)
    if isinstance(first, float | int) and isinstance(second, float | int):
        # JavaScript writes 1 for 1.0.
        whole = isinstance(first, int) and isinstance(second, int)
        return first == second if whole else math.isclose(first, second, rel_tol=RELATIVE)
    return bool(first == second)


def same_array(first: NDArray[Any], second: NDArray[Any], *, each: bool = False) -> bool:
    """Whether two arrays are equal up to rounding, that of float16 included.

    Args:
        each: compare every number with its own size, as on a logarithmic axis; else with the
            size of the largest, beside which the difference of two equal numbers is no number.
    """
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    if first.dtype.kind != "f":
        return np.array_equal(first, second)
    one, other = first.astype(np.float64), second.astype(np.float64)
    finite = np.isfinite(one)
    if not np.array_equal(one[~finite], other[~finite], equal_nan=True):
        return False
    one, other = one[finite], other[finite]
    size = np.maximum(np.abs(one), np.abs(other))
    differ = ~(np.abs(one - other) <= RELATIVE * (size if each else size.max(initial=0.0)))
    if first.dtype != np.float16:
        return not differ.any()
    step = np.spacing(size.astype(np.float16)).astype(np.float64)
    near = np.abs(one - other) <= step
    return bool(near[differ].all()) and int(differ.sum()) <= max(1, NEIGHBOURS * first.size)
