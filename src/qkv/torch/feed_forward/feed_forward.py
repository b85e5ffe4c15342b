"""Position-wise feed-forward network: two linear layers with an activation between them."""

import torch
import torch.nn.functional as F
from torch import Tensor

from qkv.shapes import check_choice, check_count, check_range
from qkv.shapes.choices import ACTIVATIONS, APPROXIMATE
from qkv.torch.checks import check_shapes, checked_by
from qkv.torch.dropout import Dropout
from qkv.torch.layer import Layer
from qkv.torch.linear import Linear

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
        check_count("FeedForward", d_model=d_model, d_ff=d_ff)
        check_choice("FeedForward", "activation", activation, ACTIVATIONS)
        check_range("FeedForward", "a number in [0, 1)", dropout=dropout)
        self.activation = activation
        self.w_1 = Linear(d_model, d_ff, bias, rng=rng, dtype=dtype, device=device)
        if activation == "swiglu":
            self.w_gate = Linear(d_model, d_ff, bias, rng=rng, dtype=dtype, device=device)
        self.w_2 = Linear(d_ff, d_model, bias, rng=rng, dtype=dtype, device=device)
        self.dropout = Dropout(dropout, rng=rng)

    def _check(self, x: Tensor) -> None:
        weight = (self.w_1.weight, "d_ff d_model")
        check_shapes("FeedForward", weight=weight, x=(x, "... d_model"))

    @checked_by(_check)
    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d_model) -> the same shape."""
        hidden = self.w_1(x)  # (..., d_ff)
        if self.activation == "swiglu":
            activated = F.silu(self.w_gate(x)) * hidden
        else:
            activated = self.activated(hidden)
        out: Tensor = self.w_2(self.dropout(activated))  # (..., d_model)
        return out

    def activated(self, hidden: Tensor) -> Tensor:
        """The activation by its name, but for "swiglu", which takes two inputs: (..., d_ff)."""
        if self.activation == "relu":
            return torch.relu(hidden)
        return F.gelu(hidden, approximate=APPROXIMATE[self.activation])
