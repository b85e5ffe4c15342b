"""Layer norm and RMS norm, as functions and layers."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from qkv.shapes import check_count, check_range
from qkv.torch.checks import check_shapes, running
from qkv.torch.half_precision import upcast
from qkv.torch.layer import Layer

__all__ = [
    "LayerNorm",
    "RMSNorm",
    "layer_norm",
    "rms_norm",
]


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Layer norm over the last axis: (x − mean) / √(variance + ε) · weight + bias.

    As `qkv.numpy.layer_norm`.
    """
    parameters = {"weight": (weight, "d_model"), "bias": (bias, "d_model")}
    check_shapes("layer_norm", x=(x, "... d_model+"), **parameters)
    check_range("layer_norm", "a number above 0", eps=eps)
    upcasted = upcast(x)  # (..., d_model)
    centred = upcasted - upcasted.mean(-1, keepdim=True)  # (..., d_model)
    factor = torch.rsqrt((centred * centred).mean(-1, keepdim=True) + float(eps))  # (..., 1)
    out = centred * factor * weight  # (..., d_model)
    return (out if bias is None else out + bias).to(x.dtype)


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """RMS norm over the last axis: x / √(mean x² + ε) · weight.

    As `qkv.numpy.rms_norm`.
    """
    check_shapes("rms_norm", x=(x, "... d_model+"), weight=(weight, "d_model"))
    check_range("rms_norm", "a number above 0", eps=eps)
    upcasted, eps = upcast(x), float(eps)
    factor = torch.rsqrt((upcasted * upcasted).mean(-1, keepdim=True) + eps)  # (..., 1)
    return (upcasted * factor * weight).to(x.dtype)  # (..., d_model)


class LayerNorm(nn.LayerNorm, Layer):
    """Layer norm in torch's fused kernel, its learned weight one at first, its bias zero.

    As `qkv.numpy.LayerNorm`, with:
        dtype, device: of the parameters.
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
        check_range("LayerNorm", "a number above 0", eps=eps)
        super().__init__(d_model, float(eps), bias=bias, device=device, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d_model) -> the same shape."""
        if not running.checked_call:
            check_shapes("LayerNorm", weight=(self.weight, "d_model"), x=(x, "... d_model"))
        return super().forward(x)


class RMSNorm(nn.RMSNorm, Layer):
    """RMS norm in torch's fused kernel, its learned weight one at first.

    As `qkv.numpy.RMSNorm`, with:
        dtype, device: of the parameter.
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
        check_range("RMSNorm", "a number above 0", eps=eps)
        super().__init__(d_model, float(eps), device=device, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d_model) -> the same shape."""
        if not running.checked_call:
            check_shapes("RMSNorm", weight=(self.weight, "d_model"), x=(x, "... d_model"))
        # Under autocast x may be narrower than the weight, which the fused kernel does not take.
        return F.rms_norm(x, self.normalized_shape, self.weight.to(x.dtype), self.eps)


NORMS: dict[str, Callable[..., LayerNorm | RMSNorm]] = {
    "layer": LayerNorm,
    "rms": lambda d_model, eps, bias, **kwargs: RMSNorm(d_model, eps, **kwargs),  # it has no bias
}
