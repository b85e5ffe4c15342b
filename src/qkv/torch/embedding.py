"""Token embedding, and the output projection whose weights are tied to it."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from qkv.shapes import check_range
from qkv.shapes.embedding import check_embedding, check_ids_in_vocabulary
from qkv.torch.checks import check_shapes, running
from qkv.torch.layer import Layer

__all__ = ["Embedding", "embedding"]


def embedding(ids: Tensor, table: Tensor, scale: float = 1.0) -> Tensor:
    """Embedding lookup: table[ids] · scale.

    As `qkv.numpy.embedding`.
    """
    check_shapes("embedding", ids=(ids, "int ..."), table=(table, "vocab_size d_model"))
    check_range("embedding", "a number above 0", scale=scale)
    check_in_table("embedding", ids, table)
    return F.embedding(ids.long(), table) * float(scale)  # (..., d_model)


def check_in_table(call: str, ids: Tensor, table: Tensor, name: str = "ids") -> None:
    """Refuse token ids of which one stands for no row of the table."""
    # While a graph is traced, values are not known; otherwise a GPU is waited for here.
    if not (torch.compiler.is_compiling() or ids.is_meta):
        check_ids_in_vocabulary(call, ids.long(), table.shape[0], name)


class Embedding(nn.Embedding, Layer):
    """Token embedding; `project` is the output projection with tied weights.

    As `qkv.numpy.Embedding`, with:
        rng: draws the table, N(0, 1/d_model); None is torch's own generator.
        dtype, device: of the table.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        pad_id: int | None = None,
        scale: float | None = None,
        *,
        rng: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        check_embedding(vocab_size, d_model, pad_id, scale)
        self.rng = rng
        super().__init__(vocab_size, d_model, pad_id, device=device, dtype=dtype)
        self.pad_id = pad_id
        self.scale = math.sqrt(d_model) if scale is None else float(scale)

    def reset_parameters(self) -> None:
        with torch.no_grad():
            self.weight.normal_(0, 1 / math.sqrt(self.embedding_dim), generator=self.rng)
            if self.padding_idx is not None:
                self.weight[self.padding_idx] = 0

    def forward(self, ids: Tensor) -> Tensor:
        """ids: (...) -> (..., d_model)."""
        if not running.checked_call:
            check_shapes("Embedding", ids=(ids, "int ..."))
            check_in_table("Embedding", ids, self.weight)
        return F.embedding(ids.long(), self.weight, self.pad_id) * self.scale  # (..., d_model)

    def project(self, x: Tensor) -> Tensor:
        """Output projection with tied weights, which scores every token: x tableᵀ.

        x: (..., d_model) -> (..., vocab_size).
        """
        if not running.checked_call:
            weight = (self.weight, "vocab_size d_model")
            check_shapes("Embedding.project", weight=weight, x=(x, "... d_model"))
        logits = F.linear(x, self.weight)  # (..., vocab_size)
        if self.pad_id is not None:
            # The row of padding is a constant: its score is written once more, without the row.
            row = self.weight[self.pad_id : self.pad_id + 1].detach()  # (1, d_model)
            logits[..., self.pad_id : self.pad_id + 1] = F.linear(x, row)
        return logits
