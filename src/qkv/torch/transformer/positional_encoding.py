"""Positional encoding of a model's inputs, of whichever kind its configuration names."""

from collections.abc import Callable

import torch
from torch import Tensor

from qkv.config import TransformerConfig
from qkv.torch.dropout import Dropout
from qkv.torch.layer import Layer
from qkv.torch.positional import LearnedPositions, alibi_formula, sinusoidal_formula

__all__ = ["PositionalEncoding"]


class PositionalEncoding(Layer):
    """Positional encoding: added to embeddings, with dropout; or a bias for the scores (ALiBi).

    As `qkv.numpy.transformer.positional_encoding.PositionalEncoding`, with:
        rng: draws a learned table, and what dropout keeps; None is torch's own generator.
        dtype, device: of a learned table.
    """

    def __init__(
        self,
        config: TransformerConfig,
        *,
        rng: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        if config.positions == "learned":
            self.positions = LearnedPositions(
                config.max_len, config.d_model, rng=rng, dtype=dtype, device=device
            )
        self.dropout = Dropout(config.dropout, rng=rng)

    def forward(self, x: Tensor, start: int = 0) -> tuple[Tensor, Tensor | None]:
        """Encode the positions of vectors of which the first stands at `start`.

        As `qkv.numpy.transformer.positional_encoding.PositionalEncoding.__call__`.
        """
        x, bias = POSITIONS[self.config.positions](self, x, start)
        return self.dropout(x), bias


def _add_waves(layer: PositionalEncoding, x: Tensor, start: int) -> tuple[Tensor, None]:
    _, T, d_model = x.shape
    waves = sinusoidal_formula(T, d_model, layer.config.layout, start, x.dtype, x.device)
    return x + waves, None  # (B, T, d_model)


def _bias_scores(layer: PositionalEncoding, x: Tensor, start: int) -> tuple[Tensor, Tensor]:
    T = x.shape[1]
    return x, alibi_formula(layer.config.n_heads, T, start + T, x.dtype, x.device)  # (1, H, T, S)


POSITIONS: dict[str, Callable[[PositionalEncoding, Tensor, int], tuple[Tensor, Tensor | None]]] = {
    "sinusoidal": _add_waves,
    "learned": lambda layer, x, start: (layer.positions(x, start), None),
    "rotary": lambda layer, x, start: (x, None),  # attention turns queries and keys
    "alibi": _bias_scores,
    "none": lambda layer, x, start: (x, None),
}
