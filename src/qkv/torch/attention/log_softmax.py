"""From scores to the logarithms of weights, of which losses and decoding are made."""

import torch
from torch import Tensor

from qkv.shapes import check_axis, check_floats

__all__ = ["log_softmax"]


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """Turn scores into log-probabilities: x − log Σ exp(x) along an axis.

    The logarithm of `softmax` would be −∞ wherever a weight is too small for its dtype.

    Args:
        x: scores of any shape; −∞ stays −∞.
        axis: the axis along which the probabilities sum to 1; a slice of nothing but −∞ stays so.
    Returns:
        Log-probabilities in the shape and dtype of x; half precision is computed in float32.
    Raises:
        ValueError: x is no float tensor, or has no such axis.
    """
    check_floats("log_softmax", x=x)
    check_axis("log_softmax", x, axis)
    # An empty slice would be NaN, and so would its gradient: let it see zeros in its place.
    empty = torch.isneginf(x).all(axis, keepdim=True)
    wide = x.masked_fill(empty, 0).to(torch.promote_types(x.dtype, torch.float32))
    return torch.log_softmax(wide, axis).masked_fill(empty, -torch.inf).to(x.dtype)
