"""Log-softmax, of which losses and decoding are made, and its backward."""

import numpy as np

from qkv.numpy.array_types import Floats
from qkv.numpy.checks import check_shapes
from qkv.numpy.half_precision import upcast
from qkv.shapes import check_axis

__all__ = ["log_softmax", "log_softmax_backward"]


def log_softmax(x: Floats, axis: int = -1) -> Floats:
    """Log-softmax: turn scores into log-probabilities, x − log Σ exp(x) along an axis.

    The logarithm of `softmax` would be −∞ wherever a weight is too small for its dtype.

    Args:
        x: scores of any shape; −∞ stays −∞.
        axis: the axis along which the probabilities sum to 1; a slice of nothing but −∞ stays so.
    Returns:
        Log-probabilities in the shape and dtype of x; half precision is computed in float32.
    Raises:
        ValueError: x is of no float dtype, or has no such axis.
    """
    check_shapes("log_softmax", x=(x, "..."))
    check_axis("log_softmax", x.shape, axis)
    return log_softmax_formula(x, axis)


def log_softmax_formula(x: Floats, axis: int = -1) -> Floats:
    """`log_softmax` without its checks."""
    scores = upcast(x)
    # Peak and logarithm are taken off one after the other: a large peak would round the sum away.
    shifted: Floats = scores - scores.max(axis, keepdims=True, initial=np.finfo(scores.dtype).min)
    # The peak alone gives 1, so only an empty slice, which has the sum 0, is touched.
    shifted -= np.log(np.maximum(np.exp(shifted).sum(axis, keepdims=True), 1))
    return shifted.astype(x.dtype, copy=False)


def log_softmax_backward(dout: Floats, out: Floats, axis: int = -1) -> Floats:
    """Backward of log-softmax: dout − softmax(x) · Σ dout.

    Args:
        dout: gradient of the loss with respect to the log-probabilities.
        out: what `log_softmax` returned, in the same shape; exp(out) is softmax(x).
        axis: the axis that `log_softmax` summed over.
    Returns:
        Gradient with respect to the scores, in the same shape; zeros for a slice of nothing but −∞.
    Raises:
        ValueError: dout and out differ in shape or dtype, or have no such axis.
    """
    check_shapes("log_softmax_backward", out=(out, "..."), dout=(dout, "..."))
    check_axis("log_softmax_backward", out.shape, axis)
    upstream = upcast(dout)
    dx: Floats = upstream - np.exp(upcast(out)) * upstream.sum(axis, keepdims=True)
    dx *= ~np.isneginf(out).all(axis, keepdims=True)
    return dx.astype(dout.dtype, copy=False)
