"""What leaves the last layer: a score for each token of the vocabulary."""

import torch
from torch import Tensor, nn

from qkv.torch.embedding import Embedding
from qkv.torch.layer import Layer

__all__ = ["TiedOutput"]


class TiedOutput(Layer):
    """Score every token by the table that embeds it: x tableᵀ + b.

    Args:
        table: whose parameters these are, too.
        bias: add one, zero at first.
        dtype, device: of the bias.
    Source: Press and Wolf 2017.
    """

    table: Embedding

    def __init__(
        self,
        table: Embedding,
        bias: bool = False,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        self.__dict__["table"] = table  # as an attribute it would stand in the state twice
        zeros = torch.zeros(table.num_embeddings, dtype=dtype, device=device)
        self.bias = nn.Parameter(zeros) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d_model) -> (..., V)."""
        logits = self.table.project(x)  # (..., V)
        return logits if self.bias is None else logits + self.bias.to(logits.dtype)
