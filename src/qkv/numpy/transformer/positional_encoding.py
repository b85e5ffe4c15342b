"""Positional encoding of a model's inputs, of whichever kind its configuration names."""

from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from qkv.config import TransformerConfig
from qkv.numpy.array_types import Floats
from qkv.numpy.dropout import Dropout
from qkv.numpy.layer import Layer
from qkv.numpy.positional import LearnedPositions, alibi_formula, sinusoidal_formula

__all__ = ["PositionalEncoding"]


class PositionalEncoding(Layer):
    """Positional encoding: added to embeddings, with dropout; or a bias for the scores (ALiBi).

    Args:
        config: says by `positions` which of `POSITIONS`.
        rng: draws a learned table, and what dropout keeps; None is a generator of its own.
        dtype: of a learned table.
    Source: Vaswani et al. 2017, section 3.5 and 5.4.
    """

    def __init__(
        self,
        config: TransformerConfig,
        *,
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        self.config = config
        if config.positions == "learned":
            self.positions = LearnedPositions(config.max_len, config.d_model, rng=rng, dtype=dtype)
        self.dropout = Dropout(config.dropout, rng=rng)

    def __call__(self, x: Floats, start: int = 0) -> tuple[Floats, Floats | None]:
        """Encode the positions of vectors of which the first stands at `start`.

        Args:
            x: (B, T, d_model).
        Returns:
            (B, T, d_model), and a bias (1, H, T, start + T) for self-attention, or None.
        """
        x, bias = POSITIONS[self.config.positions](self, x, start)
        return self.dropout(x), bias

    def backward(self, dout: Floats) -> Floats:
        """dout: (B, T, d_model) -> dx; adds to the gradient of a learned table."""
        dout = self.dropout.backward(dout)
        return self.positions.backward(dout) if self.config.positions == "learned" else dout


def _add_waves(layer: PositionalEncoding, x: Floats, start: int) -> tuple[Floats, None]:
    _, T, d_model = x.shape
    waves = sinusoidal_formula(T, d_model, layer.config.layout, start, x.dtype)
    return x + waves, None  # (B, T, d_model)


def _bias_scores(layer: PositionalEncoding, x: Floats, start: int) -> tuple[Floats, Floats]:
    T = x.shape[1]
    return x, alibi_formula(layer.config.n_heads, T, start + T, x.dtype)  # (1, H, T, S)


POSITIONS: dict[str, Callable[[PositionalEncoding, Floats, int], tuple[Floats, Floats | None]]] = {
    "sinusoidal": _add_waves,
    "learned": lambda layer, x, start: (layer.positions(x, start), None),
    "rotary": lambda layer, x, start: (x, None),  # attention turns queries and keys
    "alibi": _bias_scores,
    "none": lambda layer, x, start: (x, None),
}
