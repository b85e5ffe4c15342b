"""What is of the other room."""

from typing import Any

__all__ = ["is_tensor"]


def is_tensor(x: Any) -> bool:
    """Whether x is a torch tensor, asked without torch."""
    return hasattr(x, "__torch_function__")
