"""Convert scalars to Python's own: what counts as a number, and as a whole number, in every check.

Python's and NumPy's do, np.float32(0.1) as well, and arrays and tensors without axes. True is none,
nor is a tensor that needs a gradient, which would be lost in a plain number.
"""

import operator
from numbers import Real
from typing import Any

NUMERIC = ("float", "bfloat", "int", "uint")  # how the names of their dtypes begin


def as_float(value: Any) -> float | None:
    """The value as a Python float, or None if it is no number."""
    if isinstance(value, float):
        return float(value)
    if isinstance(value, bool) or not (isinstance(value, Real) or _is_scalar(value)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def as_int(value: Any) -> int | None:
    """The value as a Python int, or None if it is no whole number."""
    if isinstance(value, int):  # first: a compiler traces a length as an int, with no attributes
        return None if isinstance(value, bool) else value
    if type(value).__name__ == "SymInt":  # a length that torch.export leaves open: no int would be
        return value  # type: ignore[no-any-return]
    if not hasattr(value, "__index__") or (hasattr(value, "shape") and not _is_scalar(value)):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def as_python(value: Any) -> Any:
    """A number of NumPy's or torch's as Python's own; all else as it is."""
    if not _is_scalar(value):
        return value
    integer = as_int(value)
    return as_float(value) if integer is None else integer


def _is_scalar(x: Any) -> bool:
    """Whether this is one number of an array library, and nothing that learns."""
    return (
        getattr(x, "shape", None) == ()
        and str(getattr(x, "dtype", "")).removeprefix("torch.").startswith(NUMERIC)
        and not getattr(x, "requires_grad", False)
    )
