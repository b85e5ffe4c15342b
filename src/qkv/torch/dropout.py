"""Dropout: while training, zero each number with probability p, and scale up the rest."""

from typing import Any

import torch
from torch import Tensor

from qkv.shapes import check_range
from qkv.torch.checks import check_shapes, running
from qkv.torch.layer import Layer

__all__ = ["Dropout", "dropout"]


def dropout(x: Tensor, keep_mask: Tensor, p: float) -> Tensor:
    """Dropout by a given mask: x · keep_mask / (1 − p), which has the expectation x.

    As `qkv.numpy.dropout`.
    """
    check_shapes("dropout", x=(x, "..."), keep_mask=(keep_mask, "bool ..."))
    check_range("dropout", "a number in [0, 1)", p=p)
    return dropout_formula(x, keep_mask, float(p))


def dropout_formula(x: Tensor, keep_mask: Tensor, p: float) -> Tensor:
    """x · keep_mask / (1 − p), which the layer calls."""
    return x * keep_mask * (1 / (1 - p))


class Dropout(Layer):
    """Dropout that draws its own masks; in eval mode, the identity.

    As `qkv.numpy.Dropout`, with:
        rng: draws what is kept; None is torch's own generator.
    """

    def __init__(self, p: float = 0.0, *, rng: torch.Generator | None = None) -> None:
        super().__init__()
        check_range("Dropout", "a number in [0, 1)", p=p)
        self.p = float(p)
        self.rng = rng

    def forward(self, x: Tensor) -> Tensor:
        """x: any shape."""
        if not running.checked_call:
            check_shapes("Dropout", x=(x, "..."))
        if not self.training or not self.p:
            return x
        # A compiler cannot take "no generator" for a shape that it does not know yet.
        options: dict[str, Any] = {} if self.rng is None else {"generator": self.rng}
        keep_mask = torch.rand(x.shape, device=x.device, **options) >= self.p
        return dropout_formula(x, keep_mask, self.p)
