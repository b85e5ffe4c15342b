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

    As `qkv.numpy.relu`.
    """
    check_shapes("relu", x=(x, "..."))
    return torch.relu(x)


def silu(x: Tensor) -> Tensor:
    """SiLU, also called Swish: x · sigmoid(x) = x / (1 + exp(−x)).

    As `qkv.numpy.silu`.
    """
    check_shapes("silu", x=(x, "..."))
    return F.silu(x)


def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    """GELU, the Gaussian error linear unit: x · Φ(x), Φ the standard normal distribution.

    As `qkv.numpy.gelu`.
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
