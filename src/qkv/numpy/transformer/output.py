"""What leaves the last layer: a score for each token of the vocabulary."""

import numpy as np
from numpy.typing import DTypeLike

from qkv.numpy.attention.softmax import Floats
from qkv.numpy.embedding import Embedding
from qkv.numpy.layer import Layer

__all__ = ["TiedOutput"]


class TiedOutput(Layer):
    """Score every token by the table that embeds it: x tableᵀ + b.

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
            self.add("bias", np.zeros(len(table.params["weight"]), dtype))

    def __call__(self, x: Floats) -> Floats:
        """x: (..., d_model) -> (..., V)."""
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
