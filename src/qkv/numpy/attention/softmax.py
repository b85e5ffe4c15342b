"""Softmax, which turns scores into weights, and its backward."""

import numpy as np

from qkv.numpy.array_types import Floats
from qkv.numpy.checks import check_shapes
from qkv.numpy.half_precision import is_half, run_in_float32
from qkv.shapes import check_axis

__all__ = ["softmax", "softmax_backward"]

IN_CACHE = 131_072  # scores at a time, so that they stay in the processor's cache


def softmax(x: Floats, axis: int = -1) -> Floats:
    """Softmax: turn scores into weights, exp(x) / Σ exp(x) along an axis.

    Args:
        x: scores of any shape; −∞ gets weight 0.
        axis: the axis that sums to 1; a slice of nothing but −∞ becomes zeros.
    Returns:
        Weights in the shape and dtype of x; half precision is computed in float32.
    Raises:
        ValueError: x is of no float dtype, or has no such axis.
    """
    check_shapes("softmax", x=(x, "..."))
    check_axis("softmax", x.shape, axis)
    if is_half(x):
        return run_in_float32(softmax_in_place, x, axis)
    return softmax_in_place(x.copy(), axis)


def softmax_in_place(scores: Floats, axis: int = -1) -> Floats:
    """Softmax's formula, in the memory of its scores: they are large, and are not needed again."""
    for x in _in_cache(scores, axis):
        exp_in_place(x, axis)
        # The peak alone gives 1, so only an empty slice, which has the sum 0, is touched.
        x /= np.maximum(x.sum(axis, keepdims=True), 1)
    return scores


def exp_in_place(scores: Floats, axis: int = -1) -> None:
    """exp(score − peak) in the memory of the scores: no higher than 1, and 0 for −∞."""
    # The lowest finite number stands in for the peak of an empty slice: −∞ − (−∞) would be NaN.
    scores -= scores.max(axis, keepdims=True, initial=np.finfo(scores.dtype).min)
    np.exp(scores, out=scores)


def _in_cache(scores: Floats, axis: int) -> list[Floats]:
    """Views of some rows at a time, where rows are what softmax runs along."""
    if axis != -1 or scores.size <= IN_CACHE or not scores.flags.c_contiguous:
        return [scores]
    rows = scores.reshape(-1, scores.shape[-1])
    count = max(IN_CACHE // scores.shape[-1], 1)
    return [rows[start : start + count] for start in range(0, len(rows), count)]


def softmax_backward(dout: Floats, weights: Floats, axis: int = -1) -> Floats:
    """Backward of softmax: w · (dout − Σ dout · w).

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
    check_shapes("softmax_backward", weights=(weights, "..."), dout=(dout, "..."))
    check_axis("softmax_backward", weights.shape, axis)
    if is_half(weights):
        return run_in_float32(softmax_backward_formula, dout, weights, axis)
    return softmax_backward_formula(dout, weights, axis)


def softmax_backward_formula(dout: Floats, weights: Floats, axis: int = -1) -> Floats:
    """`softmax_backward` without its checks."""
    mean: Floats = (dout * weights).sum(axis, keepdims=True)
    return weights * (dout - mean)
