"""Linear layer: the projection x W + b, of which most of a Transformer is made."""

import math

import numpy as np
from numpy.typing import DTypeLike

from qkv.numpy.array_types import Floats
from qkv.numpy.checks import check_shapes, running
from qkv.numpy.layer import Layer
from qkv.shapes import check_count

__all__ = ["Linear", "linear", "linear_backward"]


def linear(x: Floats, weight: Floats, bias: Floats | None = None) -> Floats:
    """Linear projection of the last axis: x W + b.

    Args:
        x: (..., d_in).
        weight: (d_in, d_out), as the paper writes it.
        bias: (d_out,) or None.
    Returns:
        (..., d_out).
    Raises:
        ValueError: shapes or dtypes do not fit together.
    """
    check_shapes("linear", x=(x, "... d_in"), weight=(weight, "d_in d_out"), bias=(bias, "d_out"))
    return linear_formula(x, weight, bias)


def linear_formula(x: Floats, weight: Floats, bias: Floats | None) -> Floats:
    """x W + b, which layers call: one product for the rows of all leading axes."""
    rows = x.reshape(-1, x.shape[-1]) @ weight  # (N, d_out)
    out = rows.reshape(*x.shape[:-1], weight.shape[1])  # (..., d_out)
    if bias is not None:
        out += bias
    return out


def linear_backward(
    dout: Floats, x: Floats, weight: Floats, bias: Floats | None = None
) -> tuple[Floats, Floats, Floats | None]:
    """Backward of the linear projection: dx = dout Wᵀ, dW = xᵀ dout, db = Σ dout.

    Returns:
        dx, dweight and dbias, which is None without a bias.
    Raises:
        ValueError: shapes or dtypes do not fit together.
    """
    call = "linear_backward"
    check_shapes(call, x=(x, "... d_in"), weight=(weight, "d_in d_out"), bias=(bias, "d_out"))
    check_shapes(call, dout=(dout, (*x.shape[:-1], weight.shape[1])))
    return linear_backward_formula(dout, x, weight, bias)


def linear_backward_formula(
    dout: Floats, x: Floats, weight: Floats, bias: Floats | None
) -> tuple[Floats, Floats, Floats | None]:
    """dx = dout Wᵀ, dW = xᵀ dout, db = Σ dout, which layers call."""
    dx = dout @ weight.T  # (..., d_in)
    rows = dout.reshape(-1, dout.shape[-1])  # (N, d_out)
    dweight = x.reshape(-1, x.shape[-1]).T @ rows  # (d_in, d_out)
    return dx, dweight, None if bias is None else rows.sum(0)  # (d_out,)


class Linear(Layer):
    """Linear layer, its weight Glorot-uniform at first, its bias zero.

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
        self.register_parameter("weight", rng.uniform(-bound, bound, (d_in, d_out)).astype(dtype))
        if bias:
            self.register_parameter("bias", np.zeros(d_out, dtype))

    def __call__(self, x: Floats) -> Floats:
        """x: (..., d_in) -> (..., d_out)."""
        if not running.checked_call:
            check_shapes("Linear", weight=(self.params["weight"], "d_in d_out"), x=(x, "... d_in"))
        self.save_for_backward(x)
        return linear_formula(x, self.params["weight"], self.params.get("bias"))

    def backward(self, dout: Floats) -> Floats:
        """dout: (..., d_out) -> dx: (..., d_in); adds to the gradients of weight and bias."""
        (x,) = self.pop_saved()
        weight, bias = self.params["weight"], self.params.get("bias")
        check_shapes("Linear.backward", dout=(dout, (*x.shape[:-1], weight.shape[1])))
        dx, dweight, dbias = linear_backward_formula(dout, x, weight, bias)
        self.grads["weight"] += dweight
        if dbias is not None:
            self.grads["bias"] += dbias
        return dx
