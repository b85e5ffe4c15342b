"""Activations, the bend between two projections: without one, two would be one."""

import torch
import torch.nn.functional as F
from torch import Tensor

from qkv.shapes import check_floats, check_gelu

__all__ = ["gelu", "relu", "silu"]


def relu(x: Tensor) -> Tensor:
    """Keep what is positive: max(0, x).

    Args:
        x: any shape.
    Returns:
        Shaped and typed like x.
    Raises:
        ValueError: x is no float tensor.
    Source: Vaswani et al. 2017, eq. 2.
    """
    check_floats("relu", x=x)
    return torch.relu(x)


def silu(x: Tensor) -> Tensor:
    """Weigh x by its own sigmoid: x / (1 + exp(−x)), also called Swish.

    Args:
        x: any shape.
    Returns:
        Shaped and typed like x.
    Raises:
        ValueError: x is no float tensor.
    Source: Hendrycks and Gimpel 2016, section 2; Ramachandran, Zoph and Le 2017, section 4.
    """
    check_floats("silu", x=x)
    return F.silu(x)


def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    """Weigh x by the share of a standard normal below it: x · Φ(x).

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
    check_gelu("gelu", x, approximate)
    return F.gelu(x, approximate=approximate)
