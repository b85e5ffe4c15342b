"""Layer norm and RMS norm, as functions and layers."""

from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from qkv.numpy.array_types import Floats
from qkv.numpy.checks import check_shapes, running
from qkv.numpy.half_precision import upcast
from qkv.numpy.layer import Layer
from qkv.shapes import check_count, check_range

__all__ = [
    "LayerNorm",
    "RMSNorm",
    "layer_norm",
    "layer_norm_backward",
    "rms_norm",
    "rms_norm_backward",
]


def layer_norm(x: Floats, weight: Floats, bias: Floats | None = None, eps: float = 1e-5) -> Floats:
    """Layer norm over the last axis: (x − mean) / √(variance + ε) · weight + bias.

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
    parameters = {"weight": (weight, "d_model"), "bias": (bias, "d_model")}
    check_shapes("layer_norm", x=(x, "... d_model+"), **parameters)
    check_range("layer_norm", "a number above 0", eps=eps)
    return layer_norm_formula(x, weight, bias, float(eps))


def layer_norm_formula(x: Floats, weight: Floats, bias: Floats | None, eps: float) -> Floats:
    """(x − mean) / √(variance + ε) · weight + bias, which the layer calls."""
    normal, _ = _standardised(x, eps)  # (..., d_model)
    out = normal * weight if bias is None else normal * weight + bias
    return out.astype(x.dtype, copy=False)


def _standardised(x: Floats, eps: float) -> tuple[Floats, Floats]:
    """Vectors of mean 0 and variance 1, and the (..., 1) factors 1 / √(variance + ε)."""
    x = upcast(x)
    centred = x - x.mean(-1, keepdims=True)
    factor = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)  # (..., 1)
    return centred * factor, factor


def _sum_of_rows(x: Floats) -> Floats:
    """Sum over all axes but the last: all vectors share the parameters, so gradients add up."""
    summed: Floats = x.sum(tuple(range(x.ndim - 1)))  # (d_model,)
    return summed


def layer_norm_backward(
    dout: Floats, x: Floats, weight: Floats, eps: float = 1e-5
) -> tuple[Floats, Floats, Floats]:
    """Backward of layer norm; n is the normalised x, g = dout · weight.

    dx = (g − mean g − n · mean(g · n)) / √(variance + ε): moving x along a vector of equal numbers,
    or along n, changes nothing, so no gradient is left in either direction.

    Args:
        dout: (..., d_model) gradient with respect to the output.
        x, weight, eps: as the forward took them.
    Returns:
        dx, dweight = Σ dout · n and dbias = Σ dout.
    Raises:
        ValueError: dout, x, weight or eps do not fit together.
    """
    call = "layer_norm_backward"
    check_shapes(call, x=(x, "... d_model+"), weight=(weight, "d_model"))
    check_shapes(call, dout=(dout, x.shape))
    check_range(call, "a number above 0", eps=eps)
    return layer_norm_backward_formula(dout, x, weight, float(eps))


def layer_norm_backward_formula(
    dout: Floats, x: Floats, weight: Floats, eps: float
) -> tuple[Floats, Floats, Floats]:
    """(g − mean g − n · mean(g · n)) / √(variance + ε), which the layer calls."""
    normal, factor = _standardised(x, eps)  # (..., d_model), (..., 1)
    dout = upcast(dout)
    dnormal = dout * weight  # (..., d_model)
    along = (dnormal * normal).mean(-1, keepdims=True)  # (..., 1)
    dx = factor * (dnormal - dnormal.mean(-1, keepdims=True) - normal * along)
    dweight, dbias = _sum_of_rows(dout * normal), _sum_of_rows(dout)  # (d_model,)
    return dx.astype(x.dtype, copy=False), dweight.astype(x.dtype), dbias.astype(x.dtype)


def rms_norm(x: Floats, weight: Floats, eps: float = 1e-5) -> Floats:
    """RMS norm over the last axis: x / √(mean x² + ε) · weight.

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
    check_shapes("rms_norm", x=(x, "... d_model+"), weight=(weight, "d_model"))
    check_range("rms_norm", "a number above 0", eps=eps)
    return rms_norm_formula(x, weight, float(eps))


def rms_norm_formula(x: Floats, weight: Floats, eps: float) -> Floats:
    """x / √(mean x² + ε) · weight, which the layer calls."""
    normal, _ = _of_mean_square_one(x, eps)  # (..., d_model)
    return (normal * weight).astype(x.dtype, copy=False)


def _of_mean_square_one(x: Floats, eps: float) -> tuple[Floats, Floats]:
    """Vectors of mean square 1, and the (..., 1) factors 1 / √(mean x² + ε)."""
    x = upcast(x)
    factor = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + eps)  # (..., 1)
    return x * factor, factor


def rms_norm_backward(
    dout: Floats, x: Floats, weight: Floats, eps: float = 1e-5
) -> tuple[Floats, Floats]:
    """Backward of RMS norm: that of layer norm without its mean.

    Returns:
        dx = (g − n · mean(g · n)) / √(mean x² + ε) and dweight = Σ dout · n.
    Raises:
        ValueError: dout, x, weight or eps do not fit together.
    """
    call = "rms_norm_backward"
    check_shapes(call, x=(x, "... d_model+"), weight=(weight, "d_model"))
    check_shapes(call, dout=(dout, x.shape))
    check_range(call, "a number above 0", eps=eps)
    return rms_norm_backward_formula(dout, x, weight, float(eps))


def rms_norm_backward_formula(
    dout: Floats, x: Floats, weight: Floats, eps: float
) -> tuple[Floats, Floats]:
    """(g − n · mean(g · n)) / √(mean x² + ε), which the layer calls."""
    normal, factor = _of_mean_square_one(x, eps)  # (..., d_model), (..., 1)
    dout = upcast(dout)
    dnormal = dout * weight  # (..., d_model)
    dx = factor * (dnormal - normal * (dnormal * normal).mean(-1, keepdims=True))
    return dx.astype(x.dtype, copy=False), _sum_of_rows(dout * normal).astype(x.dtype)


class LayerNorm(Layer):
    """Layer norm with a learned weight, one at first, and a learned bias, zero at first.

    Args:
        d_model: width of the vectors.
        eps: ε, inside the root.
        bias: add one.
        dtype: of the parameters, and so of what the layer takes.
    Raises:
        ValueError: d_model is no positive whole number, or eps is not above 0.
    """

    def __init__(
        self,
        d_model: int,
        eps: float = 1e-5,
        bias: bool = True,
        *,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        check_count("LayerNorm", d_model=d_model)
        check_range("LayerNorm", "a number above 0", eps=eps)
        self.eps = float(eps)
        self.register_parameter("weight", np.ones(d_model, dtype))
        if bias:
            self.register_parameter("bias", np.zeros(d_model, dtype))

    def __call__(self, x: Floats) -> Floats:
        """x: (..., d_model) -> the same shape."""
        if not running.checked_call:
            check_shapes(
                "LayerNorm", weight=(self.params["weight"], "d_model"), x=(x, "... d_model")
            )
        self.save_for_backward(x)
        return layer_norm_formula(x, self.params["weight"], self.params.get("bias"), self.eps)

    def backward(self, dout: Floats) -> Floats:
        """dout: (..., d_model) -> dx; adds to the gradients of weight and bias."""
        (x,) = self.pop_saved()
        check_shapes("LayerNorm.backward", dout=(dout, x.shape))
        dx, dweight, dbias = layer_norm_backward_formula(dout, x, self.params["weight"], self.eps)
        self.grads["weight"] += dweight
        if "bias" in self.params:
            self.grads["bias"] += dbias
        return dx


class RMSNorm(Layer):
    """RMS norm with a learned weight, one at first.

    Args:
        d_model: width of the vectors.
        eps: ε, inside the root.
        dtype: of the parameter, and so of what the layer takes.
    Raises:
        ValueError: d_model is no positive whole number, or eps is not above 0.
    """

    def __init__(self, d_model: int, eps: float = 1e-5, *, dtype: DTypeLike = np.float32) -> None:
        super().__init__()
        check_count("RMSNorm", d_model=d_model)
        check_range("RMSNorm", "a number above 0", eps=eps)
        self.eps = float(eps)
        self.register_parameter("weight", np.ones(d_model, dtype))

    def __call__(self, x: Floats) -> Floats:
        """x: (..., d_model) -> the same shape."""
        if not running.checked_call:
            check_shapes("RMSNorm", weight=(self.params["weight"], "d_model"), x=(x, "... d_model"))
        self.save_for_backward(x)
        return rms_norm_formula(x, self.params["weight"], self.eps)

    def backward(self, dout: Floats) -> Floats:
        """dout: (..., d_model) -> dx; adds to the gradient of the weight."""
        (x,) = self.pop_saved()
        check_shapes("RMSNorm.backward", dout=(dout, x.shape))
        dx, dweight = rms_norm_backward_formula(dout, x, self.params["weight"], self.eps)
        self.grads["weight"] += dweight
        return dx


NORMS: dict[str, Callable[..., LayerNorm | RMSNorm]] = {
    "layer": LayerNorm,
    "rms": lambda d_model, eps, bias, **kwargs: RMSNorm(d_model, eps, **kwargs),  # it has no bias
}
