"""Log-softmax, of which losses and decoding are made."""

import torch
from torch import Tensor

from qkv.shapes import check_axis
from qkv.torch.checks import check_shapes
from qkv.torch.half_precision import upcast

__all__ = ["log_softmax"]


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """Log-softmax: turn scores into log-probabilities, x − log Σ exp(x) along an axis.

    As `qkv.numpy.log_softmax`.
    """
    check_shapes("log_softmax", x=(x, "..."))
    check_axis("log_softmax", x.shape, axis)
    return log_softmax_formula(x, axis)


def log_softmax_formula(x: Tensor, axis: int = -1) -> Tensor:
    """`log_softmax` without its checks."""
    # An empty slice would be NaN, and so would its gradient: let it see zeros in its place.
    empty = torch.isneginf(x).all(axis, keepdim=True)
    scores = upcast(x.masked_fill(empty, 0))
    return torch.log_softmax(scores, axis).masked_fill(empty, -torch.inf).to(x.dtype)
