"""Half precision: what is given and returned in it is computed in float32."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

import torch
from torch import Tensor

from qkv.torch.layer import converts

__all__ = ["in_float32", "is_half"]

HALF = (torch.float16, torch.bfloat16)
Result = TypeVar("Result")


def is_half(x: Tensor) -> bool:
    """Whether x is float16 or bfloat16, or autocast would make its products so."""
    return x.dtype in HALF or converts(x)


def in_float32(call: Callable[..., Result], *tensors: Any, **options: Any) -> Result:
    """Call with float32 in the place of half precision, and return the dtype of the first tensor.

    Scores and sums outgrow float16, which ends at 65,504, long before the results do; bfloat16
    rounds a score of 300 to an even number. Autocast would make products so, and is off.
    """
    first = tensors[0]
    wide = [_widened(x) for x in tensors]
    named = {name: _widened(x) for name, x in options.items()}
    with torch.autocast(first.device.type, enabled=False) if converts(first) else nullcontext():
        result: Result = _cast(call(*wide, **named), first.dtype)
    return result


def _widened(x: Any) -> Any:
    return x.float() if isinstance(x, Tensor) and x.dtype in HALF else x


def _cast(x: Any, dtype: torch.dtype) -> Any:
    if isinstance(x, tuple):
        return tuple(_cast(part, dtype) for part in x)
    return None if x is None else x.to(dtype)
