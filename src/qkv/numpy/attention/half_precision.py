"""Half precision: what is given and returned in it is computed in float32."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

__all__ = ["HALF", "in_float32"]

HALF, WIDE = np.dtype(np.float16), np.dtype(np.float32)
Result = TypeVar("Result")


def in_float32(call: Callable[..., Result], *arrays: Any, **options: Any) -> Result:
    """Call with float32 in the place of every float16 array, and return float16 again.

    Scores and sums outgrow float16, which ends at 65,504, long before the results do.
    """
    wide = _cast(arrays, HALF, WIDE)
    named = {name: _cast(x, HALF, WIDE) for name, x in options.items()}
    result: Result = _cast(call(*wide, **named), WIDE, HALF)
    return result


def _cast(x: Any, old: np.dtype[Any], new: np.dtype[Any]) -> Any:
    if isinstance(x, tuple):
        return tuple(_cast(part, old, new) for part in x)
    return x.astype(new) if isinstance(x, np.ndarray) and x.dtype == old else x
