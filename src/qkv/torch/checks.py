"""The checks of arrays, bound to torch: `check_shapes(call, x=(x, "B T d_model"))`.

A public call checks its arguments, and the layers that it calls do not check them again: those of
`@checked_by(its_check)` ask `running.checked_call`.
"""

from functools import partial

import torch
from torch import Tensor

from qkv.shapes import attention, multi_head, training
from qkv.shapes.checked_call import CheckedCall
from qkv.shapes.checker import ShapeChecker

__all__ = [
    "check_attention",
    "check_cache_update",
    "check_checkpoints",
    "check_masks",
    "check_multi_head",
    "check_shapes",
    "checked_by",
    "running",
    "under_autocast",
]

DTYPES = {
    "bool": ["bool"],
    "int": ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
    "float": ["float16", "bfloat16", "float32", "float64"],
}


def under_autocast(x: object) -> bool:
    """Whether autocast is on for the device of x; for "meta" there is none to ask about."""
    return isinstance(x, Tensor) and not x.is_meta and torch.is_autocast_enabled(x.device.type)


check_shapes = ShapeChecker(
    "torch",
    {getattr(torch, dtype): name for name, dtypes in DTYPES.items() for dtype in dtypes},
    under_autocast,
)
check_attention = partial(attention.check_attention, check_shapes)
check_cache_update = partial(multi_head.check_cache_update, check_shapes)
check_checkpoints = partial(training.check_checkpoints, check_shapes)
check_masks = partial(attention.check_masks, check_shapes)
check_multi_head = partial(multi_head.check_multi_head, check_shapes)

running = CheckedCall(torch.compiler.is_compiling)
checked_by = running.checked_by
