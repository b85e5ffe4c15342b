"""Layer norm and RMS norm: keep every vector in size, whatever came before."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from qkv.shapes import check_count, check_eps, check_norm
from qkv.torch.layer import Layer, check_layer_input

__all__ = [
    "LayerNorm",
    "RMSNorm",
    "layer_norm",
    "rms_norm",
]


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Give each vector mean 0 and variance 1: (x − mean) / √(variance + ε) · weight + bias.

    The variance is the biased one, Σ (x − mean)² / d_model.

    Args:
        x: (..., d_model).
        weight: (d_model,).
        bias: (d_model,), or None.
        eps: ε, which keeps a vector of equal numbers from dividing by zero.
    Returns:
        Shaped and typed like x; half precision is computed in float32.
    Raises:
        ValueError: x, weight, bias or eps do not fit together.
    Source: Ba, Kiros and Hinton 2016, eq. 4.
    """
    parameters = {"weight": weight} if bias is None else {"weight": weight, "bias": bias}
    check_norm("layer_norm", x, eps, **parameters)
    wide, eps = _wide(x), float(eps)
    centred = wide - wide.mean(-1, keepdim=True)  # (..., d_model)
    factor = torch.rsqrt((centred * centred).mean(-1, keepdim=True) + eps)  # (..., 1)
    out = centred * factor * weight  # (..., d_model)
    return (out if bias is None else out + bias).to(x.dtype)


def _wide(x: Tensor) -> Tensor:
    """At least float32: in half precision the square of 256 is infinite."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Give each vector mean square 1: x / √(mean x² + ε) · weight.

    Args:
        x: (..., d_model).
        weight: (d_model,).
        eps: ε, which keeps a vector of zeros from dividing by zero.
    Returns:
        Shaped and typed like x; half precision is computed in float32.
    Raises:
        ValueError: x, weight or eps do not fit together.
    Source: Zhang and Sennrich 2019, eq. 4; ε is not theirs, and stands inside the root.
    """
    check_norm("rms_norm", x, eps, weight=weight)
    wide, eps = _wide(x), float(eps)
    factor = torch.rsqrt((wide * wide).mean(-1, keepdim=True) + eps)  # (..., 1)
    return (wide * factor * weight).to(x.dtype)  # (..., d_model)


class LayerNorm(nn.LayerNorm, Layer):
    """`layer_norm` in torch's fused kernel, with a weight, one at first, and a bias, zero at first.

    Args:
        d_model: width of the vectors.
        eps: ε, inside the root.
        bias: add one.
        dtype, device: of the parameters.
    Raises:
        ValueError: d_model is no positive whole number, or eps is not above 0.
    """

    def __init__(
        self,
        d_model: int,
        eps: float = 1e-5,
        bias: bool = True,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        check_count("LayerNorm", d_model=d_model)
        check_eps("LayerNorm", eps)
        super().__init__(d_model, float(eps), bias=bias, device=device, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d_model) -> the same shape."""
        check_layer_input("LayerNorm", x, "d_model", self.weight)
        return super().forward(x)


class RMSNorm(nn.RMSNorm, Layer):
    """`rms_norm` in torch's fused kernel, with a weight, one at first.

    Args:
        d_model: width of the vectors.
        eps: ε, inside the root.
        dtype, device: of the parameter.
    Raises:
        ValueError: d_model is no positive whole number, or eps is not above 0.
    """

    def __init__(
        self,
        d_model: int,
        eps: float = 1e-5,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        check_count("RMSNorm", d_model=d_model)
        check_eps("RMSNorm", eps)
        super().__init__(d_model, float(eps), device=device, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d_model) -> the same shape."""
        check_layer_input("RMSNorm", x, "d_model", self.weight)
        # Under autocast x may be narrower than the weight, which the fused kernel does not take.
        return F.rms_norm(x, self.normalized_shape, self.weight.to(x.dtype), self.eps)


def make_norm(
    norm: str,
    d_model: int,
    eps: float,
    bias: bool,
    *,
    dtype: torch.dtype | None,
    device: torch.device | str | None,
) -> LayerNorm | RMSNorm:
    """A norm by its name, "layer" or "rms"; the latter has no bias."""
    if norm == "layer":
        return LayerNorm(d_model, eps, bias, dtype=dtype, device=device)
    return RMSNorm(d_model, eps, dtype=dtype, device=device)
