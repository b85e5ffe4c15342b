"""Projection of one vector for each text, laid out for few rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from qkv.torch.linear import Linear

__all__ = ["Projection"]


class Projection(NamedTuple):
    """A linear projection, or several of the same vectors side by side: x W + b."""

    weight: Tensor  # (d_in, d_out)
    bias: Tensor | None  # (d_out,)

    @classmethod
    def of(cls, *layers: Linear, one_row: bool) -> Projection:
        """The parameters of linear layers as one product."""
        biases = [layer.bias for layer in layers if layer.bias is not None]
        return cls.from_parameters(
            _joined([layer.weight for layer in layers]),
            _joined(biases) if biases else None,
            one_row=one_row,
        )

    @classmethod
    def from_parameters(cls, weight: Tensor, bias: Tensor | None, *, one_row: bool) -> Projection:
        """A weight (d_out, d_in), in the order of memory that suits the number of rows."""
        # A processor multiplies a single row faster by a matrix whose own rows lie in one piece.
        return cls(weight.T.contiguous() if one_row else weight.T, bias)

    def __call__(self, x: Tensor) -> Tensor:
        """x: (N, d_in) -> (N, d_out)."""
        return x @ self.weight if self.bias is None else torch.addmm(self.bias, x, self.weight)


def _joined(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors one after the other; a single one is not copied."""
    return tensors[0] if len(tensors) == 1 else torch.cat(list(tensors))
