"""Dropout: while training, leave out each number with probability p, and scale up the rest."""

from typing import Any

import torch
from torch import Tensor

from qkv.shapes import check_kept, check_share
from qkv.torch.layer import Layer

__all__ = ["Dropout", "dropout"]


def dropout(x: Tensor, kept: Tensor, p: float) -> Tensor:
    """Leave out what is not kept: x · kept / (1 − p), which has the expectation x.

    Args:
        x: any shape.
        kept: bool, shaped like x; True with probability 1 − p.
        p: the share that is left out, in [0, 1).
    Returns:
        Shaped and typed like x.
    Raises:
        ValueError: `kept` or p does not fit.
    Source: Srivastava et al. 2014, in the form that scales while training.
    """
    check_kept("dropout", x, kept, p)
    return x * kept * (1 / (1 - float(p)))


class Dropout(Layer):
    """Dropout with a generator of its own; does nothing in eval mode.

    Args:
        p: the share that is left out, in [0, 1).
        rng: draws what is kept; None is torch's own generator.
    Raises:
        ValueError: p is outside [0, 1).
    """

    def __init__(self, p: float = 0.0, *, rng: torch.Generator | None = None) -> None:
        super().__init__()
        check_share("Dropout", "p", p, "0 leaves nothing out")
        self.p = float(p)
        self.rng = rng

    def forward(self, x: Tensor) -> Tensor:
        """x: any shape."""
        if not self.training or not self.p:
            return x
        # A compiler cannot take "no generator" for a shape that it does not know yet.
        own: dict[str, Any] = {} if self.rng is None else {"generator": self.rng}
        kept = torch.rand(x.shape, device=x.device, **own) >= self.p
        return dropout(x, kept, self.p)
