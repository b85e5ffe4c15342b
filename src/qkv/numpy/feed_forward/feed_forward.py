"""Position-wise feed-forward network: two linear layers with an activation between them."""

import numpy as np
from numpy.typing import DTypeLike

from qkv.numpy.array_types import Floats
from qkv.numpy.checks import check_shapes, checked_by
from qkv.numpy.dropout import Dropout
from qkv.numpy.feed_forward.activations import (
    gelu_backward_formula,
    gelu_formula,
    relu_backward_formula,
    relu_formula,
    silu_backward_formula,
    silu_formula,
)
from qkv.numpy.layer import Layer
from qkv.numpy.linear import Linear
from qkv.shapes import check_choice, check_count, check_range
from qkv.shapes.choices import ACTIVATIONS, APPROXIMATE

__all__ = ["FeedForward"]


class FeedForward(Layer):
    """Position-wise feed-forward network, with ReLU, GELU or SwiGLU.

    "relu", as in the paper, "gelu" and its approximation "gelu_tanh", as in GPT-2:
    activation(x W_1 + b_1) W_2 + b_2.
    "swiglu": (silu(x W_gate + b_gate) · (x W_1 + b_1)) W_2 + b_2, with a third matrix.

    Args:
        d_model: width of the vectors.
        d_ff: width between the projections.
        activation: "relu", "gelu", "gelu_tanh" or "swiglu".
        bias: add one after each projection.
        dropout: dropout probability of the d_ff activations.
        rng: draws the weights, and what dropout keeps; None is a generator of its own.
        dtype: of the parameters, and so of what the layer takes.
    Raises:
        ValueError: an argument is none of these.
    Source: Vaswani et al. 2017, eq. 2; "swiglu": Shazeer 2020, eq. 6, where W is our W_gate, V our
        W_1, and biases are left out.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        activation: str = "relu",
        bias: bool = True,
        dropout: float = 0.0,
        *,
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        check_count("FeedForward", d_model=d_model, d_ff=d_ff)
        check_choice("FeedForward", "activation", activation, ACTIVATIONS)
        check_range("FeedForward", "a number in [0, 1)", dropout=dropout)
        rng = rng or np.random.default_rng()
        self.activation = activation
        self.w_1 = Linear(d_model, d_ff, bias, rng=rng, dtype=dtype)
        if activation == "swiglu":
            self.w_gate = Linear(d_model, d_ff, bias, rng=rng, dtype=dtype)
        self.w_2 = Linear(d_ff, d_model, bias, rng=rng, dtype=dtype)
        self.dropout = Dropout(dropout, rng=rng)

    def _check(self, x: Floats) -> None:
        weight = (self.w_1.params["weight"], "d_model d_ff")
        check_shapes("FeedForward", weight=weight, x=(x, "... d_model"))

    @checked_by(_check)
    def __call__(self, x: Floats) -> Floats:
        """x: (..., d_model) -> the same shape."""
        hidden = self.w_1(x)  # (..., d_ff)
        if self.activation == "swiglu":
            gate = self.w_gate(x)  # (..., d_ff)
            self.save_for_backward(x.shape, hidden, gate)
            activated: Floats = silu_formula(gate) * hidden
        else:
            self.save_for_backward(x.shape, hidden, None)
            activated = self.activated(hidden)
        return self.w_2(self.dropout(activated))  # (..., d_model)

    def backward(self, dout: Floats) -> Floats:
        """dout: (..., d_model) -> dx; adds to the gradients of the projections."""
        shape, hidden, gate = self.pop_saved()
        check_shapes("FeedForward.backward", dout=(dout, shape))
        dactivated = self.dropout.backward(self.w_2.backward(dout))  # (..., d_ff)
        if self.activation == "swiglu":
            dgate = silu_backward_formula(dactivated * hidden, gate)  # (..., d_ff)
            dx = self.w_gate.backward(dgate)  # (..., d_model)
            return dx + self.w_1.backward(dactivated * silu_formula(gate))
        if self.activation == "relu":
            dhidden = relu_backward_formula(dactivated, hidden)  # (..., d_ff)
        else:
            dhidden = gelu_backward_formula(dactivated, hidden, APPROXIMATE[self.activation])
        return self.w_1.backward(dhidden)  # (..., d_model)

    def activated(self, hidden: Floats) -> Floats:
        """The activation by its name, but for "swiglu", which takes two inputs: (..., d_ff)."""
        if self.activation == "relu":
            return relu_formula(hidden)
        return gelu_formula(hidden, APPROXIMATE[self.activation])
