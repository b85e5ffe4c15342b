"""Residual connection around a sub-layer, with dropout and post- or pre-norm."""

from collections.abc import Callable

import torch
from torch import Tensor

from qkv.shapes import check_bool, check_choice, check_count, check_range
from qkv.torch.add_norm.norms import NORMS
from qkv.torch.checks import check_shapes, running
from qkv.torch.dropout import Dropout
from qkv.torch.layer import Layer

__all__ = ["AddNorm"]


class AddNorm(Layer):
    """Residual connection around a sub-layer, with dropout and post- or pre-norm.

    As `qkv.numpy.AddNorm`, with:
        rng: draws what dropout keeps; None is torch's own generator.
        dtype, device: of the parameters.
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
        rng: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        check_count("AddNorm", d_model=d_model)
        check_bool("AddNorm", norm_first=norm_first)
        check_choice("AddNorm", "norm", norm, NORMS)
        check_range("AddNorm", "a number in [0, 1)", dropout=dropout)
        self.norm_first = norm_first
        self.norm = NORMS[norm](d_model, eps, bias, dtype=dtype, device=device)
        self.dropout = Dropout(dropout, rng=rng)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """x: (..., d_model); sublayer: from x to the same shape -> the same shape."""
        if not running.checked_call:
            weight = (self.norm.weight, "d_model")
            check_shapes("AddNorm", weight=weight, x=(x, "... d_model"))
        y = sublayer(self.norm(x) if self.norm_first else x)  # (..., d_model)
        if getattr(y, "shape", None) != x.shape or y.dtype != x.dtype:  # it may be a caller's own
            check_shapes("AddNorm", **{"sublayer(x)": (y, x.shape)})
        out: Tensor = x + self.dropout(y)
        return out if self.norm_first else self.norm(out)
