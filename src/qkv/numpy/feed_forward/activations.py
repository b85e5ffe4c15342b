"""Activations and their backwards: ReLU, SiLU and GELU; the table that the feed-forward reads."""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from qkv.numpy.array_types import Floats
from qkv.numpy.checks import check_shapes
from qkv.numpy.half_precision import upcast
from qkv.shapes import check_choice
from qkv.shapes.choices import APPROXIMATIONS

__all__ = ["gelu", "gelu_backward", "relu", "relu_backward", "silu", "silu_backward"]


def relu(x: Floats) -> Floats:
    """ReLU, the rectified linear unit: max(0, x).

    Args:
        x: any shape.
    Returns:
        Shaped and typed like x.
    Raises:
        ValueError: x is of no float dtype.
    Source: Vaswani et al. 2017, eq. 2.
    """
    check_shapes("relu", x=(x, "..."))
    return relu_formula(x)


def relu_formula(x: Floats) -> Floats:
    """max(0, x), which layers call."""
    return np.maximum(x, 0)


def relu_backward(dout: Floats, x: Floats) -> Floats:
    """Backward of ReLU: passes where x was positive; at 0 it is 0, as in torch."""
    check_shapes("relu_backward", x=(x, "..."))
    check_shapes("relu_backward", dout=(dout, x.shape))
    return relu_backward_formula(dout, x)


def relu_backward_formula(dout: Floats, x: Floats) -> Floats:
    """dout where x was positive, which layers call."""
    return dout * (x > 0)


def silu(x: Floats) -> Floats:
    """SiLU, also called Swish: x · sigmoid(x) = x / (1 + exp(−x)).

    Args:
        x: any shape.
    Returns:
        Shaped and typed like x.
    Raises:
        ValueError: x is of no float dtype.
    Source: Hendrycks and Gimpel 2016, section 2; Ramachandran, Zoph and Le 2017, section 4.
    """
    check_shapes("silu", x=(x, "..."))
    return silu_formula(x)


def silu_formula(x: Floats) -> Floats:
    """x · sigmoid(x), which layers call."""
    return x * _sigmoid(x)


def silu_backward(dout: Floats, x: Floats) -> Floats:
    """Backward of SiLU: with σ the sigmoid of x, dout · σ · (1 + x · (1 − σ))."""
    check_shapes("silu_backward", x=(x, "..."))
    check_shapes("silu_backward", dout=(dout, x.shape))
    return silu_backward_formula(dout, x)


def silu_backward_formula(dout: Floats, x: Floats) -> Floats:
    """dout · σ · (1 + x · (1 − σ)), which layers call."""
    sigmoid = _sigmoid(x)
    return dout * sigmoid * (1 + x * (1 - sigmoid))


def _sigmoid(x: Floats) -> Floats:
    """Sigmoid: 1 / (1 + exp(−x)), by an exponential that never overflows."""
    exp = np.exp(-abs(x))
    sigmoid: Floats = np.where(x < 0, exp, 1) / (1 + exp)
    return sigmoid.astype(x.dtype, copy=False)


def gelu(x: Floats, *, approximate: str = "none") -> Floats:
    """GELU, the Gaussian error linear unit: x · Φ(x), Φ the standard normal distribution.

    Args:
        x: any shape.
        approximate: "none", or "tanh" for Φ(x) ≈ (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2, wrong
            by at most 0.0005 in the result, which some checkpoints were trained with.
    Returns:
        Shaped and typed like x; half precision is computed in float32.
    Raises:
        ValueError: x is of no float dtype, or the approximation is unknown.
    Source: Hendrycks and Gimpel 2016, section 2.
    """
    check_shapes("gelu", x=(x, "..."))
    check_choice("gelu", "approximate", approximate, APPROXIMATIONS)
    return gelu_formula(x, approximate)


def gelu_formula(x: Floats, approximate: str) -> Floats:
    """x · Φ(x), exact or by tanh, which layers call."""
    z = upcast(x)
    cdf = _normal_cdf(z) if approximate == "none" else (1 + np.tanh(_tanh_argument(z))) / 2
    return (z * cdf).astype(x.dtype, copy=False)


def gelu_backward(dout: Floats, x: Floats, *, approximate: str = "none") -> Floats:
    """Backward of GELU: dout · (Φ(x) + x Φ′(x))."""
    check_shapes("gelu_backward", x=(x, "..."))
    check_shapes("gelu_backward", dout=(dout, x.shape))
    check_choice("gelu_backward", "approximate", approximate, APPROXIMATIONS)
    return gelu_backward_formula(dout, x, approximate)


def gelu_backward_formula(dout: Floats, x: Floats, approximate: str) -> Floats:
    """dout · (Φ(x) + x Φ′(x)), which layers call."""
    z = upcast(x)
    if approximate == "none":
        cdf = _normal_cdf(z)
        density = np.exp(z * z * -0.5) * (1 / math.sqrt(2 * math.pi))
    else:
        tanh = np.tanh(_tanh_argument(z))
        cdf = (1 + tanh) / 2
        slope = math.sqrt(2 / math.pi) * (1 + 3 * TANH_CUBIC * z * z)
        density = (1 - tanh * tanh) * slope / 2
    return (dout * (cdf + z * density)).astype(x.dtype, copy=False)


TANH_CUBIC = 0.044715


def _tanh_argument(x: Floats) -> Floats:
    """√(2/π) (x + 0.044715 x³), whose tanh stands for 2 Φ(x) − 1."""
    return math.sqrt(2 / math.pi) * (x + TANH_CUBIC * x * x * x)


# NumPy has no error function. For z ≥ 0 the share of a standard normal beyond z is
#     exp(−z²/2) / (1 + z) · p(t),  t = (z − 4) / (z + 4), which runs from −1 to 1,
# where p is so smooth that a polynomial meets it everywhere: its Chebyshev interpolation, computed
# with 60 digits, cut where the rest no longer counts, by powers of t. The largest error of the
# share is 2e-16 in float64 (24 coefficients) and 1e-7 in float32 (12).
COEFFICIENTS = {
    "float64": (
        0.47205320650984467,
        -0.09670347732652607,
        0.013999634724430469,
        0.02860036405357749,
        -0.03219783742831453,
        0.01793609747886859,
        -0.0050023785870514665,
        -0.00028562308680939413,
        0.0006948970692570495,
        -9.443033944152223e-05,
        -8.785300442645791e-05,
        2.1250446856208376e-05,
        1.3626315192600401e-05,
        -3.433372216853275e-06,
        -2.6118464340168558e-06,
        4.0671730125154447e-07,
        5.507747965364098e-07,
        -1.237153366992197e-09,
        -1.1022354013739079e-07,
        -1.7932121916642413e-08,
        1.7442583764419795e-08,
        5.474708632048689e-09,
        -1.5456221598143852e-09,
        -6.763267210562454e-10,
    ),
    "float32": (
        0.472053203,
        -0.0967034704,
        0.0139999137,
        0.0286001681,
        -0.0322011629,
        0.0179376959,
        -0.00498771425,
        -0.000291267495,
        0.000664988692,
        -8.45540179e-05,
        -5.80912353e-05,
        1.25685467e-05,
    ),
}
BLOCK = 8192  # numbers at a time, so that they stay in the cache through all powers


def _normal_cdf(x: Floats) -> Floats:
    """Φ(x), the standard normal distribution function, to the last digits in both tails."""
    *lower, highest = COEFFICIENTS["float32" if x.dtype == np.float32 else "float64"]
    flat = x.reshape(-1)
    cdf = np.empty_like(flat)
    for start in range(0, flat.size, BLOCK):
        part = flat[start : start + BLOCK]
        z = np.abs(part)
        t = 1 - 8 / (z + 4)
        tail = np.full_like(t, highest)
        for coefficient in reversed(lower):
            tail *= t
            tail += coefficient
        tail *= np.exp(z * z * -0.5)
        tail /= 1 + z
        cdf[start : start + BLOCK] = np.where(part < 0, tail, 1 - tail)
    return cdf.reshape(x.shape)


class Activation(NamedTuple):
    """An activation and its backward, by their formulas: y = forward(x), dx = backward(dout, x)."""

    forward: Callable[[Floats], Floats]
    backward: Callable[[Floats, Floats], Floats]


ACTIVATIONS = {
    "relu": Activation(relu_formula, relu_backward_formula),
    "gelu": Activation(
        partial(gelu_formula, approximate="none"),
        partial(gelu_backward_formula, approximate="none"),
    ),
    "gelu_tanh": Activation(
        partial(gelu_formula, approximate="tanh"),
        partial(gelu_backward_formula, approximate="tanh"),
    ),
    "swiglu": Activation(silu_formula, silu_backward_formula),
}
