"""Activations: ReLU, SiLU and GELU; the table that the feed-forward reads."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from qkv.shapes import check_choice
from qkv.shapes.choices import APPROXIMATIONS
from qkv.torch.checks import check_shapes

__all__ = ["gelu", "relu", "silu"]


def relu(x: Tensor) -> Tensor:
    """ReLU, the rectified linear unit: max(0, x).

    Args:
        x: any shape.
    Returns:
        Shaped and typed like x.
    Raises:
        ValueError: x is no float tensor.
    Source: Vaswani et al. 2017, eq. 2.
    """
    check_shapes("relu", x=(x, "..."))
    return torch.relu(x)


def silu(x: Tensor) -> Tensor:
    """SiLU, also called Swish: x · sigmoid(x) = x / (1 + exp(−x)).

    Args:
        x: any shape.
    Returns:
        Shaped and typed like x.
    Raises:
        ValueError: x is no float tensor.
    Source: Hendrycks and Gimpel 2016, section 2; Ramachandran, Zoph and Le 2017, section 4.
    """
    check_shapes("silu", x=(x, "..."))
    return F.silu(x)


def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    """GELU, the Gaussian error linear unit: x · Φ(x), Φ the standard normal distribution.

    Args:
        x: any shape.
        approximate: "none", or "tanh" for Φ(x) ≈ (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2, wrong
            by at most 0.0005 in the result, which some checkpoints were trained with.
    Returns:
        Shaped and typed like x.
    Raises:
        ValueError: x is no float tensor, or the approximation is unknown.
    Source: Hendrycks and Gimpel 2016, section 2.
    """
    check_shapes("gelu", x=(x, "..."))
    check_choice("gelu", "approximate", approximate, APPROXIMATIONS)
    return F.gelu(x, approximate=approximate)


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "swiglu": F.silu,
}
