"""From scores to weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.numpy.attention.half_precision import HALF, in_float32
from qkv.shapes import check_axis, check_floats, check_softmax_gradient

__all__ = ["softmax", "softmax_backward"]

Floats = NDArray[np.floating[Any]]


def softmax(x: Floats, axis: int = -1) -> Floats:
    """Turn scores into weights: exp(x) / Σ exp(x) along an axis.

    Args:
        x: scores of any shape; −∞ gets weight 0.
        axis: the axis that sums to 1; a slice of nothing but −∞ becomes zeros.
    Returns:
        Weights in the shape and dtype of x; half precision is computed in float32.
    Raises:
        ValueError: x is no float array, or has no such axis.
    """
    check_floats("softmax", x=x)
    check_axis("softmax", x, axis)
    if x.dtype == HALF:
        return in_float32(softmax_in_place, x, axis)
    return softmax_in_place(x.copy(), axis)


def softmax_in_place(x: Floats, axis: int = -1) -> Floats:
    """Softmax in the memory of its scores: they are large, and are not needed again."""
    # The lowest finite number stands in for the peak of an empty slice: −∞ − (−∞) would be NaN.
    x -= x.max(axis, keepdims=True, initial=np.finfo(x.dtype).min)
    np.exp(x, out=x)
    # The peak alone gives 1, so only an empty slice, which has the sum 0, is touched.
    x /= np.maximum(x.sum(axis, keepdims=True), 1)
    return x


def softmax_backward(dout: Floats, weights: Floats, axis: int = -1) -> Floats:
    """Push a gradient through softmax: w · (dout − Σ dout · w).

    Args:
        dout: gradient of the loss with respect to the weights.
        weights: what `softmax` returned, in the same shape.
        axis: the axis that `softmax` summed over.
    Returns:
        Gradient with respect to the scores, in the same shape; half precision is computed in
        float32.
    Raises:
        ValueError: dout and weights differ in shape or dtype.
    """
    check_softmax_gradient("softmax_backward", dout, weights, axis)
    if weights.dtype == HALF:
        return in_float32(softmax_backward, dout, weights, axis)
    mean: Floats = (dout * weights).sum(axis, keepdims=True)
    return weights * (dout - mean)
