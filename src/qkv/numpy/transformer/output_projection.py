"""Tied output projection: logits by the transposed embedding table."""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from qkv.numpy.array_types import Floats
from qkv.numpy.checks import check_shapes, running
from qkv.numpy.embedding import Embedding
from qkv.numpy.layer import Layer
from qkv.numpy.linear import Linear

__all__ = ["OutputProjection", "TiedOutput", "output_projection"]


class TiedOutput(Layer):
    """Tied output projection: logits x tableᵀ + b, by the table that embeds the tokens.

    Args:
        table: whose parameters these are, too.
        bias: add one, zero at first.
        dtype: of the bias.
    Source: Press and Wolf 2017.
    """

    def __init__(
        self, table: Embedding, bias: bool = False, *, dtype: DTypeLike = np.float32
    ) -> None:
        super().__init__()
        self.table = table
        if bias:
            self.register_parameter("bias", np.zeros(len(table.params["weight"]), dtype))

    def __call__(self, x: Floats) -> Floats:
        """x: (..., d_model) -> (..., V)."""
        if not running.checked_call:
            weight = (self.table.params["weight"], "vocab_size d_model")
            check_shapes("TiedOutput", weight=weight, x=(x, "... d_model"))
        logits = self.table.project(x)  # (..., V)
        if "bias" in self.params:
            logits += self.params["bias"]
        return logits

    def backward(self, dout: Floats) -> Floats:
        """dout: (..., V) -> dx: (..., d_model); adds to the gradients of table and bias."""
        dx = self.table.project_backward(dout)  # (..., d_model)
        if "bias" in self.params:
            self.grads["bias"] += dout.reshape(-1, dout.shape[-1]).sum(0)  # (V,)
        return dx


class OutputProjection(NamedTuple):
    """The parameters that project hidden states to logits: x weight + bias.

    Args:
        weight: (d_model, V).
        bias: (V,), or None.
        pad_id: the column of the weight that is a constant, and gets no gradient; None for none.
    """

    weight: Floats
    bias: Floats | None
    pad_id: int | None


def output_projection(output: Linear | TiedOutput) -> OutputProjection:
    """The parameters of a model's last layer, whether they are its own or the embedding's."""
    bias = output.params.get("bias")
    if isinstance(output, TiedOutput):
        return OutputProjection(output.table.params["weight"].T, bias, output.table.pad_id)
    return OutputProjection(output.params["weight"], bias, None)
