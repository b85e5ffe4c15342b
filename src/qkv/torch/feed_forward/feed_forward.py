"""Position-wise feed-forward network: two linear layers with an activation between them."""

import torch
from torch import Tensor

from qkv.shapes import check_choice, check_count, check_range
from qkv.shapes.choices import GATED
from qkv.torch.checks import check_shapes, checked_by
from qkv.torch.dropout import Dropout
from qkv.torch.feed_forward.activations import ACTIVATIONS
from qkv.torch.layer import Layer
from qkv.torch.linear import Linear

__all__ = ["FeedForward"]


class FeedForward(Layer):
    """Position-wise feed-forward network: activation(x W_1 + b_1) W_2 + b_2.

    As `qkv.numpy.FeedForward`, with:
        rng: draws the weights, and what dropout keeps; None is torch's own generator.
        dtype, device: of the parameters.
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
        if activation in GATED:
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
        gate = self.w_gate(x) if self.activation in GATED else None  # (..., d_ff)
        forward = ACTIVATIONS[self.activation]
        activated = forward(hidden) if gate is None else forward(gate) * hidden  # (..., d_ff)
        out: Tensor = self.w_2(self.dropout(activated))  # (..., d_model)
        return out
