"""Dropout: while training, leave out each number with probability p, and scale up the rest."""

import numpy as np
from numpy.typing import NDArray

from qkv.numpy.attention.softmax import Floats
from qkv.numpy.layer import Layer
from qkv.shapes import check_kept, check_share

__all__ = ["Dropout", "dropout", "dropout_backward"]

Bools = NDArray[np.bool_]


def dropout(x: Floats, kept: Bools, p: float) -> Floats:
    """Leave out what is not kept: x · kept / (1 − p), which has the expectation x.

    Args:
        x: any shape.
        kept: bool, shaped like x; True with probability 1 − p.
        p: the share that is left out, in [0, 1).
    Returns:
        Shaped and typed like x.
    Raises:
        ValueError: `kept` or p does not fit.
    Source: Srivastava et al. 2014, in the form that scales while training.
    """
    check_kept("dropout", x, kept, p)
    return x * kept * (1 / (1 - float(p)))


def dropout_backward(dout: Floats, kept: Bools, p: float) -> Floats:
    """The gradient of `dropout`: the same numbers are left out, the rest scaled alike."""
    check_kept("dropout_backward", dout, kept, p)
    return dout * kept * (1 / (1 - float(p)))


class Dropout(Layer):
    """Dropout with a generator of its own; does nothing in eval mode.

    Args:
        p: the share that is left out, in [0, 1).
        rng: draws what is kept; None is a generator of its own.
    Raises:
        ValueError: p is outside [0, 1).
    """

    def __init__(self, p: float = 0.0, *, rng: np.random.Generator | None = None) -> None:
        super().__init__()
        check_share("Dropout", "p", p, "0 leaves nothing out")
        self.p = float(p)
        self.rng = rng or np.random.default_rng()

    def __call__(self, x: Floats) -> Floats:
        """x: any shape."""
        if not self.training or not self.p:
            self.save(None)
            return x
        kept = self.rng.random(x.shape) >= self.p
        self.save(kept)
        return dropout(x, kept, self.p)

    def backward(self, dout: Floats) -> Floats:
        (kept,) = self.saved()
        return dout if kept is None else dropout_backward(dout, kept, self.p)
