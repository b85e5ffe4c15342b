"""Position-wise feed-forward network: two linear layers with an activation between them."""

import numpy as np
from numpy.typing import DTypeLike

from qkv.numpy.array_types import Floats
from qkv.numpy.checks import check_shapes, checked_by
from qkv.numpy.dropout import Dropout
from qkv.numpy.feed_forward.activations import ACTIVATIONS
from qkv.numpy.layer import Layer
from qkv.numpy.linear import Linear
from qkv.shapes import check_choice, check_count, check_range
from qkv.shapes.choices import GATED

__all__ = ["FeedForward"]


class FeedForward(Layer):
    """Position-wise feed-forward network: activation(x W_1 + b_1) W_2 + b_2.

    "relu" is the paper's activation, "gelu_tanh", an approximation of "gelu", that of GPT-2.
    "swiglu", one of `GATED`: (silu(x W_gate + b_gate) · (x W_1 + b_1)) W_2 + b_2, with a third
    matrix.

    Args:
        d_model: width of the vectors.
        d_ff: width between the projections.
        activation: one of `ACTIVATIONS`.
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
        if activation in GATED:
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
        gate = self.w_gate(x) if self.activation in GATED else None  # (..., d_ff)
        self.save_for_backward(x.shape, hidden, gate)
        forward = ACTIVATIONS[self.activation].forward
        activated = forward(hidden) if gate is None else forward(gate) * hidden  # (..., d_ff)
        return self.w_2(self.dropout(activated))  # (..., d_model)

    def backward(self, dout: Floats) -> Floats:
        """dout: (..., d_model) -> dx; adds to the gradients of the projections."""
        shape, hidden, gate = self.pop_saved()
        check_shapes("FeedForward.backward", dout=(dout, shape))
        forward, backward = ACTIVATIONS[self.activation]
        dactivated = self.dropout.backward(self.w_2.backward(dout))  # (..., d_ff)
        if gate is None:
            return self.w_1.backward(backward(dactivated, hidden))  # (..., d_model)
        dx = self.w_gate.backward(backward(dactivated * hidden, gate))  # (..., d_model)
        return dx + self.w_1.backward(dactivated * forward(gate))
