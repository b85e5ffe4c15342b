"""Half precision: float16 and bfloat16 are computed in float32, and cast back at the end."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

import torch
from torch import Tensor

from qkv.torch.checks import under_autocast

__all__ = ["is_half", "run_in_float32", "upcast"]

HALF = (torch.float16, torch.bfloat16)
Result = TypeVar("Result")


def is_half(x: Tensor) -> bool:
    """Whether x is float16 or bfloat16, or autocast would make its products so."""
    return x.dtype in HALF or under_autocast(x)


def upcast(x: Tensor) -> Tensor:
    """Cast to at least float32: in half precision the square of 256 is infinite."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def run_in_float32(function: Callable[..., Result], *tensors: Any, **options: Any) -> Result:
    """Call a function with half precision cast to float32, and cast results as the first tensor.

    Scores and sums outgrow float16, which ends at 65,504, long before the results do; bfloat16
    rounds a score of 300 to an even number. Autocast would make products so, and is off.
    """
    first = tensors[0]
    arguments = [_to_float32(tensor) for tensor in tensors]
    keywords = {name: _to_float32(value) for name, value in options.items()}
    autocast = under_autocast(first)
    with torch.autocast(first.device.type, enabled=False) if autocast else nullcontext():
        result: Result = _cast(function(*arguments, **keywords), first.dtype)
    return result


def _to_float32(value: Any) -> Any:
    """A tensor of half precision in float32; anything else as it is."""
    return value.float() if isinstance(value, Tensor) and value.dtype in HALF else value


def _cast(value: Any, dtype: torch.dtype) -> Any:
    """Every tensor of a result in a dtype."""
    if isinstance(value, tuple):
        return tuple(_cast(item, dtype) for item in value)
    return None if value is None else value.to(dtype)
