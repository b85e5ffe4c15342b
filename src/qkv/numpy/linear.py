"""The projection x W + b, of which most of a Transformer is made."""

import math

import numpy as np
from numpy.typing import DTypeLike

from qkv.numpy.attention.softmax import Floats
from qkv.numpy.layer import Layer
from qkv.shapes import check_count, check_gradient_of, check_input, check_linear

__all__ = ["Linear", "linear", "linear_backward"]


def linear(x: Floats, weight: Floats, bias: Floats | None = None) -> Floats:
    """Project the last axis: x W + b.

    Args:
        x: (..., d_in).
        weight: (d_in, d_out), as the paper writes it.
        bias: (d_out,) or None.
    Returns:
        (..., d_out).
    Raises:
        ValueError: shapes or dtypes do not fit together.
    """
    check_linear("linear", x, weight, bias)
    return _projected(x, weight, bias)


def _projected(x: Floats, weight: Floats, bias: Floats | None) -> Floats:
    """`linear` for a layer, which has checked its input: a small model calls it very often."""
    out = x @ weight  # (..., d_out)
    if bias is not None:
        out += bias
    return out


def linear_backward(
    dout: Floats, x: Floats, weight: Floats, bias: Floats | None = None
) -> tuple[Floats, Floats, Floats | None]:
    """The gradients of `linear`: dx = dout Wᵀ, dW = xᵀ dout, db = Σ dout.

    Returns:
        dx, dweight and dbias, which is None without a bias.
    Raises:
        ValueError: shapes or dtypes do not fit together.
    """
    check_linear("linear_backward", x, weight, bias)
    check_gradient_of("linear_backward", dout, (*x.shape[:-1], weight.shape[1]))
    dx = dout @ weight.T  # (..., d_in)
    rows = dout.reshape(-1, dout.shape[-1])  # (N, d_out)
    dweight = x.reshape(-1, x.shape[-1]).T @ rows  # (d_in, d_out)
    return dx, dweight, None if bias is None else rows.sum(0)  # (d_out,)


class Linear(Layer):
    """A learned projection, its weight Glorot-uniform at first, its bias zero.

    Args:
        d_in, d_out: widths of input and output.
        bias: add one.
        rng: draws the weight; None is a generator of its own.
        dtype: of the parameters, and so of what the layer takes.
    Raises:
        ValueError: a width is no positive whole number.
    Source: Glorot and Bengio 2010, eq. 16.
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        bias: bool = True,
        *,
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        check_count("Linear", d_in=d_in, d_out=d_out)
        rng = rng or np.random.default_rng()
        bound = math.sqrt(6 / (d_in + d_out))
        self.add("weight", rng.uniform(-bound, bound, (d_in, d_out)).astype(dtype))
        if bias:
            self.add("bias", np.zeros(d_out, dtype))

    def __call__(self, x: Floats) -> Floats:
        """x: (..., d_in) -> (..., d_out)."""
        weight = self.params["weight"]
        check_input("Linear", x, "d_in", weight)
        self.save(x)
        return _projected(x, weight, self.params.get("bias"))

    def backward(self, dout: Floats) -> Floats:
        """dout: (..., d_out) -> dx: (..., d_in); adds to the gradients of weight and bias."""
        (x,) = self.saved()
        weight, bias = self.params["weight"], self.params.get("bias")
        check_gradient_of("Linear.backward", dout, (*x.shape[:-1], weight.shape[1]))
        dx, dweight, dbias = linear_backward(dout, x, weight, bias)
        self.grads["weight"] += dweight
        if dbias is not None:
            self.grads["bias"] += dbias
        return dx
