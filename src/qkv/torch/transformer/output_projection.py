"""Tied output projection: logits by the transposed embedding table."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from qkv.torch.checks import check_shapes, running
from qkv.torch.embedding import Embedding
from qkv.torch.layer import Layer
from qkv.torch.linear import Linear

__all__ = ["OutputProjection", "TiedOutput", "output_projection"]


class TiedOutput(Layer):
    """Tied output projection: logits x tableᵀ + b, by the table that embeds the tokens.

    As `qkv.numpy.transformer.output_projection.TiedOutput`, with:
        dtype, device: of the bias.
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
        if not running.checked_call:
            weight = (self.table.weight, "vocab_size d_model")
            check_shapes("TiedOutput", weight=weight, x=(x, "... d_model"))
        logits = self.table.project(x)  # (..., V)
        return logits if self.bias is None else logits + self.bias.to(logits.dtype)


class OutputProjection(NamedTuple):
    """The parameters that project hidden states to logits: x weightᵀ + bias.

    As `qkv.numpy.transformer.output_projection.OutputProjection`, with:
        weight: (V, d_model).
        pad_id: the row of the weight that is a constant, and gets no gradient; None for none.
    """

    weight: Tensor
    bias: Tensor | None
    pad_id: int | None


def output_projection(output: Linear | TiedOutput) -> OutputProjection:
    """The parameters of a model's last layer, whether they are its own or the embedding's."""
    if isinstance(output, TiedOutput):
        return OutputProjection(output.table.weight, output.bias, output.table.pad_id)
    return OutputProjection(output.weight, output.bias, None)
