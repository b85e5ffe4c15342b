"""Projection of one vector for each text, by the parameters of one layer or of several."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qkv.numpy.array_types import Floats
from qkv.numpy.linear import Linear

__all__ = ["Projection"]


class Projection(NamedTuple):
    """A linear projection, or several of the same vectors side by side: x W + b."""

    weight: Floats  # (d_in, d_out)
    bias: Floats | None  # (d_out,)

    @classmethod
    def of(cls, *layers: Linear) -> Projection:
        """The parameters of linear layers as one product."""
        weights = [layer.params["weight"] for layer in layers]
        biases = [layer.params["bias"] for layer in layers if "bias" in layer.params]
        return cls(_joined(weights), _joined(biases) if biases else None)

    def __call__(self, x: Floats) -> Floats:
        """x: (N, d_in) -> (N, d_out)."""
        out = x @ self.weight  # (N, d_out)
        if self.bias is not None:
            out += self.bias
        return out


def _joined(arrays: list[Floats]) -> Floats:
    """The arrays side by side; a single one is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, -1)
