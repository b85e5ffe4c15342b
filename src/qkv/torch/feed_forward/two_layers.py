"""Two projections with a bend between them, the same for every position."""

import torch
from torch import Tensor

from qkv.shapes import check_feed_forward
from qkv.shapes.feed_forward import APPROXIMATE
from qkv.torch.dropout import Dropout
from qkv.torch.feed_forward.activations import gelu, relu, silu
from qkv.torch.layer import Layer, check_layer_input
from qkv.torch.linear import Linear

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
        rng: draws the weights, and what dropout keeps; None is torch's own generator.
        dtype, device: of the parameters.
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
        rng: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        check_feed_forward(d_model, d_ff, activation, dropout)
        self.activation = activation
        self.w_1 = Linear(d_model, d_ff, bias, rng=rng, dtype=dtype, device=device)
        if activation == "swiglu":
            self.w_gate = Linear(d_model, d_ff, bias, rng=rng, dtype=dtype, device=device)
        self.w_2 = Linear(d_ff, d_model, bias, rng=rng, dtype=dtype, device=device)
        self.dropout = Dropout(dropout, rng=rng)

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d_model) -> the same shape."""
        check_layer_input("FeedForward", x, "d_model", self.w_1.weight.T)
        hidden = self.w_1(x)  # (..., d_ff)
        if self.activation == "swiglu":
            bent = silu(self.w_gate(x)) * hidden
        elif self.activation == "relu":
            bent = relu(hidden)
        else:
            bent = gelu(hidden, approximate=APPROXIMATE[self.activation])
        out: Tensor = self.w_2(self.dropout(bent))  # (..., d_model)
        return out
