"""What is of the other room."""

from typing import Any

import numpy as np

__all__ = ["is_ndarray"]


def is_ndarray(x: Any) -> bool:
    """Whether x is a NumPy array."""
    return isinstance(x, np.ndarray)
