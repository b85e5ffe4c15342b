"""What every panel's arguments are checked with, and the words for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Spec: TypeAlias = dict[str, Any]  # what of a panel travels as JSON
Role: TypeAlias = Literal["query", "key", "value", "output"]
ROLES = ("query", "key", "value", "output")


def validate_array(call: str, name: str, values: ArrayLike, shape: str, *ndims: int) -> Floats:
    """`values` as float64 with one of the given numbers of axes, none of length 0."""
    array = np.asarray(values)
    if array.dtype.kind not in "bif":
        raise ValueError(
            f"{call}: {name} must be real numbers of shape {shape}, got {array.dtype}: "
            "convert to a NumPy array of floats first"
        )
    if array.ndim not in ndims or 0 in array.shape:
        raise ValueError(
            f"{call}: {name} must be {shape}, got {array.shape}: "
            "drop the batch axis, or index the part to show"
        )
    return array.astype(np.float64)


def validate_labels(
    call: str, name: str, labels: Sequence[object], length: int, what: str
) -> tuple[str, ...]:
    """`labels` as a tuple of `length` strings."""
    if isinstance(labels, str) or len(labels) != length:
        raise ValueError(
            f"{call}: {name} must hold {length} labels, one for each {what}, "
            f"got {labels!r}: pass the tokens in order"
        )
    return tuple(str(label) for label in labels)


def validate_choice(call: str, name: str, value: object, allowed: Sequence[object]) -> None:
    """Refuse a value that is not one of those allowed."""
    if value not in allowed:
        raise ValueError(f"{call}: {name} must be one of {list(allowed)}, got {value!r}")


def split_values(call: str, values: dict[str, object]) -> tuple[Floats, tuple[str | None, ...]]:
    """The numbers among the values, nan for the others, and the texts, None for the others."""
    for name, value in values.items():
        number = isinstance(value, int | float | np.integer | np.floating)
        if not (value is None or isinstance(value, str) or number) or isinstance(value, bool):
            raise ValueError(
                f"{call}: {name}.value must be a number, a text or None, got {value!r}: "
                "write it as a text"
            )
        if number and math.isnan(float(value)):  # type: ignore[arg-type]
            raise ValueError(f"{call}: {name}.value must not be nan: leave it out, or write a text")
    numbers = [math.nan if v is None or isinstance(v, str) else v for v in values.values()]
    texts = tuple(v if isinstance(v, str) else None for v in values.values())
    return np.array(numbers, dtype=np.float64), texts
