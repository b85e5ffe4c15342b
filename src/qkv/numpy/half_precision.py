"""Half precision: float16 is computed in float32, and cast back at the end."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from qkv.numpy.array_types import Floats

__all__ = ["is_half", "run_in_float32", "upcast"]

Result = TypeVar("Result")


def is_half(x: Floats) -> bool:
    """Whether x is float16."""
    return x.dtype == np.float16


def upcast(x: Floats) -> Floats:
    """Cast to at least float32: in half precision the square of 256 is infinite."""
    return x.astype(np.promote_types(x.dtype, np.float32), copy=False)


def run_in_float32(function: Callable[..., Result], *arrays: Any, **options: Any) -> Result:
    """Call a function with every float16 array cast to float32, and cast its results to float16.

    Scores and sums outgrow float16, which ends at 65,504, long before the results do.
    """
    arguments = _cast(arrays, np.float16, np.float32)
    keywords = {name: _cast(value, np.float16, np.float32) for name, value in options.items()}
    result: Result = _cast(function(*arguments, **keywords), np.float32, np.float16)
    return result


def _cast(value: Any, old: type, new: type) -> Any:
    """Arrays of one dtype cast to another, also inside a tuple; anything else as it is."""
    if isinstance(value, tuple):
        return tuple(_cast(item, old, new) for item in value)
    return value.astype(new) if isinstance(value, np.ndarray) and value.dtype == old else value
