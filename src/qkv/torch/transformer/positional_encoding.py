"""Positional encoding of a model's inputs, of whichever kind its configuration names."""

import torch
from torch import Tensor

from qkv.config import TransformerConfig
from qkv.torch.dropout import Dropout
from qkv.torch.layer import Layer
from qkv.torch.positional import LearnedPositions, alibi_formula, sinusoidal_formula

__all__ = ["PositionalEncoding"]


class PositionalEncoding(Layer):
    """Positional encoding: added to embeddings, with dropout; or a bias for the scores (ALiBi).

    Args:
        config: says by `positions` which kind.
        rng: draws a learned table, and what dropout keeps; None is torch's own generator.
        dtype, device: of a learned table.
    Source: Vaswani et al. 2017, section 3.5 and 5.4.
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

        Args:
            x: (B, T, d_model).
        Returns:
            (B, T, d_model), and a bias (1, H, T, start + T) for self-attention, or None.
        """
        config, bias = self.config, None
        _, T, d_model = x.shape
        if config.positions == "learned":
            x = self.positions(x, start)
        elif config.positions == "sinusoidal":
            waves = sinusoidal_formula(T, d_model, config.layout, start, x.dtype, x.device)
            x = x + waves  # (B, T, d_model)
        elif config.positions == "alibi":
            bias = alibi_formula(config.n_heads, T, start + T, x.dtype, x.device)  # (1, H, T, S)
        return self.dropout(x), bias
