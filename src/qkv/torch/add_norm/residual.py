"""Residual connection around a sub-layer, with dropout and post- or pre-norm."""

from collections.abc import Callable

import torch
from torch import Tensor

from qkv.shapes import check_choice, check_count, check_range
from qkv.shapes.choices import PLACEMENTS
from qkv.torch.add_norm.norms import NORMS
from qkv.torch.checks import check_shapes, running
from qkv.torch.dropout import Dropout
from qkv.torch.layer import Layer

__all__ = ["AddNorm"]


class AddNorm(Layer):
    """Residual connection around a sub-layer, with dropout and post- or pre-norm.

    "post", as in the paper: norm(x + dropout(sublayer(x))).
    "pre": x + dropout(sublayer(norm(x))), where x itself is never normalised on its way up.

    Args:
        d_model: width of the vectors.
        norm_placement: "post" or "pre".
        dropout: dropout probability of the sub-layer's output.
        norm: one of `NORMS`, "layer" in the paper.
        eps: of the norm.
        bias: in a layer norm; an RMS norm has none.
        rng: draws what dropout keeps; None is torch's own generator.
        dtype, device: of the parameters.
    Raises:
        ValueError: an argument is none of these.
    Source: Vaswani et al. 2017, section 3.1 and 5.4; "pre": Xiong et al. 2020, table 1.
    """

    def __init__(
        self,
        d_model: int,
        norm_placement: str = "post",
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
        check_choice("AddNorm", "norm_placement", norm_placement, PLACEMENTS)
        check_choice("AddNorm", "norm", norm, NORMS)
        check_range("AddNorm", "a number in [0, 1)", dropout=dropout)
        self.norm_placement = norm_placement
        self.norm = NORMS[norm](d_model, eps, bias, dtype=dtype, device=device)
        self.dropout = Dropout(dropout, rng=rng)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """x: (..., d_model); sublayer: from x to the same shape -> the same shape."""
        if not running.checked_call:
            weight = (self.norm.weight, "d_model")
            check_shapes("AddNorm", weight=weight, x=(x, "... d_model"))
        pre = self.norm_placement == "pre"
        y = sublayer(self.norm(x) if pre else x)  # (..., d_model)
        if getattr(y, "shape", None) != x.shape or y.dtype != x.dtype:  # it may be a caller's own
            check_shapes("AddNorm", **{"sublayer(x)": (y, x.shape)})
        out: Tensor = x + self.dropout(y)
        return out if pre else self.norm(out)
