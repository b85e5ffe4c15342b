"""Two projections with a bend between them, the same for every position."""

import numpy as np
from numpy.typing import DTypeLike

from qkv.numpy.attention.softmax import Floats
from qkv.numpy.dropout import Dropout
from qkv.numpy.feed_forward.activations import (
    gelu,
    gelu_backward,
    relu,
    relu_backward,
    silu,
    silu_backward,
)
from qkv.numpy.layer import Layer
from qkv.numpy.linear import Linear
from qkv.shapes import check_feed_forward, check_gradient_of, check_input
from qkv.shapes.feed_forward import APPROXIMATE

__all__ = ["FeedForward"]


class FeedForward(Layer):
    """Widen each vector to d_ff, bend it, and narrow it again.

    "relu", as in the paper, "gelu" and its approximation "gelu_tanh", as in GPT-2:
    activation(x W_1 + b_1) W_2 + b_2.
    "swiglu": (silu(x W_gate + b_gate) · (x W_1 + b_1)) W_2 + b_2, with a third matrix.

    Args:
        d_model: width of the vectors.
        d_ff: width between the projections.
        activation: "relu", "gelu", "gelu_tanh" or "swiglu".
        bias: add one after each projection.
        dropout: the share of the d_ff numbers that is left out while training.
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
        check_feed_forward(d_model, d_ff, activation, dropout)
        rng = rng or np.random.default_rng()
        self.activation = activation
        self.w_1 = Linear(d_model, d_ff, bias, rng=rng, dtype=dtype)
        if activation == "swiglu":
            self.w_gate = Linear(d_model, d_ff, bias, rng=rng, dtype=dtype)
        self.w_2 = Linear(d_ff, d_model, bias, rng=rng, dtype=dtype)
        self.dropout = Dropout(dropout, rng=rng)

    def __call__(self, x: Floats) -> Floats:
        """x: (..., d_model) -> the same shape."""
        check_input("FeedForward", x, "d_model", self.w_1.params["weight"])
        hidden = self.w_1(x)  # (..., d_ff)
        if self.activation == "swiglu":
            gate = self.w_gate(x)  # (..., d_ff)
            self.save(x.shape, hidden, gate)
            bent: Floats = silu(gate) * hidden
        else:
            self.save(x.shape, hidden, None)
            bent = self._bent(hidden)
        return self.w_2(self.dropout(bent))  # (..., d_model)

    def backward(self, dout: Floats) -> Floats:
        """dout: (..., d_model) -> dx; adds to the gradients of the projections."""
        shape, hidden, gate = self.saved()
        check_gradient_of("FeedForward.backward", dout, shape)
        dbent = self.dropout.backward(self.w_2.backward(dout))  # (..., d_ff)
        if self.activation == "swiglu":
            dx = self.w_gate.backward(silu_backward(dbent * hidden, gate))  # (..., d_model)
            return dx + self.w_1.backward(dbent * silu(gate))
        if self.activation == "relu":
            dhidden = relu_backward(dbent, hidden)  # (..., d_ff)
        else:
            dhidden = gelu_backward(dbent, hidden, approximate=APPROXIMATE[self.activation])
        return self.w_1.backward(dhidden)  # (..., d_model)

    def _bent(self, hidden: Floats) -> Floats:
        if self.activation == "relu":
            return relu(hidden)
        return gelu(hidden, approximate=APPROXIMATE[self.activation])
