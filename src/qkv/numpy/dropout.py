"""Dropout: while training, zero each number with probability p, and scale up the rest."""

import numpy as np

from qkv.numpy.array_types import Bools, Floats
from qkv.numpy.checks import check_shapes, running
from qkv.numpy.layer import Layer
from qkv.shapes import check_range

__all__ = ["Dropout", "dropout", "dropout_backward"]


def dropout(x: Floats, keep_mask: Bools, p: float) -> Floats:
    """Dropout by a given mask: x · keep_mask / (1 − p), which has the expectation x.

    Args:
        x: any shape.
        keep_mask: bool, shaped like x; True with probability 1 − p.
        p: dropout probability, in [0, 1).
    Returns:
        Shaped and typed like x.
    Raises:
        ValueError: `keep_mask` or p does not fit.
    Source: Srivastava et al. 2014, in the form that scales while training.
    """
    check_shapes("dropout", x=(x, "..."), keep_mask=(keep_mask, "bool ..."))
    check_range("dropout", "a number in [0, 1)", p=p)
    return dropout_formula(x, keep_mask, float(p))


def dropout_formula(x: Floats, keep_mask: Bools, p: float) -> Floats:
    """x · keep_mask / (1 − p), which the layer calls; of a gradient, its own backward."""
    return x * keep_mask * (1 / (1 - p))


def dropout_backward(dout: Floats, keep_mask: Bools, p: float) -> Floats:
    """Backward of dropout: the same numbers are zeroed, the rest scaled alike."""
    check_shapes("dropout_backward", dout=(dout, "..."), keep_mask=(keep_mask, "bool ..."))
    check_range("dropout_backward", "a number in [0, 1)", p=p)
    return dropout_formula(dout, keep_mask, float(p))


class Dropout(Layer):
    """Dropout that draws its own masks; in eval mode, the identity.

    Args:
        p: dropout probability, in [0, 1).
        rng: draws what is kept; None is a generator of its own.
    Raises:
        ValueError: p is outside [0, 1).
    """

    def __init__(self, p: float = 0.0, *, rng: np.random.Generator | None = None) -> None:
        super().__init__()
        check_range("Dropout", "a number in [0, 1)", p=p)
        self.p = float(p)
        self.rng = rng or np.random.default_rng()

    def __call__(self, x: Floats) -> Floats:
        """x: any shape."""
        if not running.checked_call:
            check_shapes("Dropout", x=(x, "..."))
        if not self.training or not self.p:
            self.save_for_backward(None)
            return x
        keep_mask = self.rng.random(x.shape) >= self.p
        self.save_for_backward(keep_mask)
        return dropout_formula(x, keep_mask, self.p)

    def backward(self, dout: Floats) -> Floats:
        """dout, any shape -> dx."""
        (keep_mask,) = self.pop_saved()
        return dout if keep_mask is None else dropout_formula(dout, keep_mask, self.p)
