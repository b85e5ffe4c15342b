"""Residual connection around a sub-layer, with dropout and post- or pre-norm."""

from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from qkv.numpy.add_norm.norms import NORMS
from qkv.numpy.array_types import Floats
from qkv.numpy.checks import check_shapes, running
from qkv.numpy.dropout import Dropout
from qkv.numpy.layer import Layer
from qkv.shapes import check_bool, check_choice, check_count, check_range

__all__ = ["AddNorm"]


class AddNorm(Layer):
    """Residual connection around a sub-layer, with dropout and post- or pre-norm.

    Post-norm, as in the paper: norm(x + dropout(sublayer(x))).
    Pre-norm: x + dropout(sublayer(norm(x))), where x itself is never normalised on its way up.

    Args:
        d_model: width of the vectors.
        norm_first: pre-norm instead of post-norm.
        dropout: dropout probability of the sub-layer's output.
        norm: one of `NORMS`, "layer" in the paper.
        eps: of the norm.
        bias: in a layer norm; an RMS norm has none.
        rng: draws what dropout keeps; None is a generator of its own.
        dtype: of the parameters, and so of what the layer takes.
    Raises:
        ValueError: an argument is none of these.
    Source: Vaswani et al. 2017, section 3.1 and 5.4; pre-norm: Xiong et al. 2020, table 1.
    """

    def __init__(
        self,
        d_model: int,
        norm_first: bool = False,
        dropout: float = 0.0,
        norm: str = "layer",
        eps: float = 1e-5,
        bias: bool = True,
        *,
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        check_count("AddNorm", d_model=d_model)
        check_bool("AddNorm", norm_first=norm_first)
        check_choice("AddNorm", "norm", norm, NORMS)
        check_range("AddNorm", "a number in [0, 1)", dropout=dropout)
        self.norm_first = norm_first
        self.norm = NORMS[norm](d_model, eps, bias, dtype=dtype)
        self.dropout = Dropout(dropout, rng=rng)

    def __call__(self, x: Floats, sublayer: Callable[[Floats], Floats]) -> Floats:
        """x: (..., d_model); sublayer: from x to the same shape -> the same shape."""
        if not running.checked_call:
            weight = self.norm.params["weight"]
            check_shapes("AddNorm", weight=(weight, "d_model"), x=(x, "... d_model"))
        self.save_for_backward(x.shape)
        y = sublayer(self.norm(x) if self.norm_first else x)  # (..., d_model)
        if getattr(y, "shape", None) != x.shape or y.dtype != x.dtype:  # it may be a caller's own
            check_shapes("AddNorm", **{"sublayer(x)": (y, x.shape)})
        out: Floats = x + self.dropout(y)
        return out if self.norm_first else self.norm(out)

    def backward(self, dout: Floats, sublayer_backward: Callable[[Floats], Floats]) -> Floats:
        """Backward through the sub-layer and the residual connection, whose gradients add up.

        Args:
            dout: (..., d_model) gradient with respect to the output.
            sublayer_backward: from the gradient of the sub-layer's output to that of its input.
        Returns:
            dx; the gradients of the norm's parameters are added to.
        """
        (shape,) = self.pop_saved()
        check_shapes("AddNorm.backward", dout=(dout, shape))
        if not self.norm_first:
            dout = self.norm.backward(dout)  # now with respect to the sum
        dx = sublayer_backward(self.dropout.backward(dout))
        check_shapes("AddNorm.backward", **{"sublayer_backward(dout)": (dx, shape)})
        return dout + (self.norm.backward(dx) if self.norm_first else dx)
