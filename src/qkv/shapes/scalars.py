"""What counts as a number, and as a whole number, in every check.

Python's and NumPy's do, np.float32(0.1) as well, and arrays and tensors without axes. True is none,
nor is a tensor that needs a gradient, which would be lost in a plain number.
"""

import operator
from numbers import Real
from typing import Any

NUMBERS = ("float", "bfloat", "int", "uint")  # how the names of their dtypes begin


def number(value: Any) -> float | None:
    """The value as a plain float, or None if it is no number."""
    if isinstance(value, float):
        return float(value)
    if isinstance(value, bool) or not (isinstance(value, Real) or _has_no_axes(value)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def whole(value: Any) -> int | None:
    """The value as a plain int, or None if it is no whole number."""
    if isinstance(value, int):  # first: a compiler traces a length as an int, with no attributes
        return None if isinstance(value, bool) else value
    if not hasattr(value, "__index__") or (hasattr(value, "shape") and not _has_no_axes(value)):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def plain(value: Any) -> Any:
    """A number of NumPy's or torch's as Python's own; all else as it is."""
    if not _has_no_axes(value):
        return value
    found = whole(value)
    return number(value) if found is None else found


def _has_no_axes(x: Any) -> bool:
    """Whether this is one number of an array library, and nothing that learns."""
    return (
        getattr(x, "shape", None) == ()
        and str(getattr(x, "dtype", "")).removeprefix("torch.").startswith(NUMBERS)
        and not getattr(x, "requires_grad", False)
    )
