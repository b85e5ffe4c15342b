"""Add & Norm: the path around each sub-layer, with a norm at its end or its beginning."""

from collections.abc import Callable

import torch
from torch import Tensor

from qkv.shapes import check_add_norm, check_residual
from qkv.torch.add_norm.norms import make_norm
from qkv.torch.dropout import Dropout
from qkv.torch.layer import Layer, check_layer_input

__all__ = ["AddNorm"]


class AddNorm(Layer):
    """The path around a sub-layer, with dropout on what it adds and a norm after or before it.

    "post", as in the paper: norm(x + dropout(sublayer(x))).
    "pre": x + dropout(sublayer(norm(x))), where x itself is never normalised on its way up.

    Args:
        d_model: width of the vectors.
        placement: "post" or "pre".
        dropout: the share of the sub-layer's output that is left out while training.
        norm: "layer" or "rms".
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
        placement: str = "post",
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
        check_add_norm(d_model, placement, dropout, norm)
        self.placement = placement
        self.norm = make_norm(norm, d_model, eps, bias, dtype=dtype, device=device)
        self.dropout = Dropout(dropout, rng=rng)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """x: (..., d_model); sublayer: from x to the same shape -> the same shape."""
        check_layer_input("AddNorm", x, "d_model", self.norm.weight)
        if self.placement == "pre":
            return x + self._dropped(sublayer(self.norm(x)), x)
        out: Tensor = self.norm(x + self._dropped(sublayer(x), x))
        return out

    def _dropped(self, y: Tensor, x: Tensor) -> Tensor:
        check_residual("AddNorm", "sublayer(x)", y, x.shape)
        out: Tensor = self.dropout(y)
        return out
