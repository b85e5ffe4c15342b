"""Linear layer: the projection x W + b, of which most of a Transformer is made."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from qkv.shapes import check_count
from qkv.torch.checks import check_shapes, running
from qkv.torch.layer import Layer

__all__ = ["Linear", "linear"]


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Linear projection of the last axis: x W + b.

    As `qkv.numpy.linear`, with:
        weight: (d_in, d_out), as the paper writes it; the layer holds the transpose.

    Under autocast, dtypes may differ.
    """
    check_shapes("linear", x=(x, "... d_in"), weight=(weight, "d_in d_out"), bias=(bias, "d_out"))
    return F.linear(x, weight.T, bias)  # (..., d_out)


class Linear(nn.Linear, Layer):
    """Linear layer, its weight Glorot-uniform at first, its bias zero.

    As `qkv.numpy.Linear`, with:
        rng: draws the weight; None is torch's own generator.
        dtype, device: of the parameters.
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        bias: bool = True,
        *,
        rng: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        check_count("Linear", d_in=d_in, d_out=d_out)
        self.rng = rng
        super().__init__(d_in, d_out, bias, device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        bound = math.sqrt(6 / (self.in_features + self.out_features))
        with torch.no_grad():
            self.weight.uniform_(-bound, bound, generator=self.rng)
            if self.bias is not None:
                self.bias.zero_()

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d_in) -> (..., d_out)."""
        if not running.checked_call:
            check_shapes("Linear", weight=(self.weight, "d_out d_in"), x=(x, "... d_in"))
        return super().forward(x)
