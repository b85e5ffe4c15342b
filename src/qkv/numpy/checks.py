"""The checks of arrays, bound to NumPy: `check_shapes(call, x=(x, "B T d_model"))`.

A public call checks its arguments, and the layers that it calls in turn do not check them again:
`@checked_by(its_check)` sets `running.checked_call` as long as it runs.
"""

import threading
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np

from qkv.shapes import attention, multi_head, training
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
]

Call = TypeVar("Call", bound=Callable[..., Any])

DTYPES = {
    "bool": ["bool"],
    "int": ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
    "float": ["float16", "float32", "float64"],
}

check_shapes = ShapeChecker(
    "numpy", {np.dtype(dtype): name for name, dtypes in DTYPES.items() for dtype in dtypes}
)
check_attention = partial(attention.check_attention, check_shapes)
check_cache_update = partial(multi_head.check_cache_update, check_shapes)
check_checkpoints = partial(training.check_checkpoints, check_shapes)
check_masks = partial(attention.check_masks, check_shapes)
check_multi_head = partial(multi_head.check_multi_head, check_shapes)


class _Running(threading.local):
    """Whether this thread is inside a call that has checked what it hands on."""

    checked_call = False


running = _Running()


def checked_by(check: Callable[..., None]) -> Callable[[Call], Call]:
    """Decorator of a method that calls layers: its check holds for all of them.

    Args:
        check: takes what the method takes, and refuses what does not fit.
    """

    def decorate(call: Call) -> Call:
        @wraps(call)
        def checked_call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if running.checked_call:
                return call(self, *args, **kwargs)
            check(self, *args, **kwargs)
            try:
                running.checked_call = True
                return call(self, *args, **kwargs)
            finally:
                running.checked_call = False

        return checked_call  # type: ignore[return-value]

    return decorate
