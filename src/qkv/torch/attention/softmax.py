"""Softmax, which turns scores into weights."""

import torch
from torch import Tensor

from qkv.shapes import check_axis
from qkv.torch.checks import check_shapes

__all__ = ["softmax"]


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """Softmax: turn scores into weights, exp(x) / Σ exp(x) along an axis.

    As `qkv.numpy.softmax`.
    """
    check_shapes("softmax", x=(x, "..."))
    check_axis("softmax", x.shape, axis)
    return softmax_formula(x, axis)


def softmax_formula(x: Tensor, axis: int = -1) -> Tensor:
    """exp(x) / Σ exp(x) along an axis, and zeros where that is empty."""
    # An empty slice would be NaN, and so would its gradient: let softmax see zeros in its place.
    empty = torch.isneginf(x).all(axis, keepdim=True)
    return torch.softmax(x.masked_fill(empty, 0), axis).masked_fill(empty, 0)
