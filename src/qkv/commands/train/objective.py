"""The loss of a batch: the model, its last projection and the surprise in one module."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from qkv.commands.train.surprise import surprise
from qkv.text import PAD, Batch
from qkv.torch import Linear, Transformer

__all__ = ["Objective", "tensors"]


def tensors(batch: Batch, device: torch.device) -> tuple[Tensor, ...]:
    """What `Objective` takes of a batch: it is on its way to the device when this returns."""
    words = batch.target_out != PAD
    places = np.flatnonzero(words)  # counted here, so that no GPU is waited for
    arrays = batch.source, batch.target_in, places, batch.target_out[words]
    found = [torch.from_numpy(array) for array in arrays]
    if device.type == "cuda":
        found = [x.pin_memory() for x in found]
    return tuple(x.to(device, non_blocking=True) for x in found)


class Objective(nn.Module):
    """How surprised a model is by the targets of a batch, summed over their tokens.

    Args:
        model: what learns.
        label_smoothing: of the loss while training; in eval mode there is none.
        fused: take projection and loss together, a few rows at a time; a compiler does that itself.
    """

    def __init__(self, model: Transformer, label_smoothing: float, fused: bool = True) -> None:
        super().__init__()
        self.model, self.label_smoothing, self.fused = model, label_smoothing, fused

    def forward(self, source: Tensor, target: Tensor, places: Tensor, words: Tensor) -> Tensor:
        """The sum over all words.

        Args:
            source: (B, S) token ids.
            target: (B, T), what the decoder reads.
            places: (N,), where in the B · T positions of the target a word follows.
            words: (N,), these words.
        Returns:
            One number, of at least float32.
        """
        model, smoothing = self.model, self.label_smoothing if self.training else 0.0
        mask, memory = model.memory_mask(source), model.encode(source)  # (B, S, d_model)
        x, bias = model.target_inputs(model.target_embedding(target))  # (B, T, d_model)
        x = model.decoder(x, memory, memory_mask=mask, bias=bias)
        x = x.flatten(0, 1).index_select(0, places)  # (N, d_model): no scores for padding
        if self.fused and torch.is_grad_enabled():
            output = model.output
            weight = output.weight if isinstance(output, Linear) else output.table.weight
            constant = None if isinstance(output, Linear) else model.config.pad_id
            return surprise(x, weight, output.bias, words, smoothing, constant)
        logits = model.output(x)  # (N, V)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return F.cross_entropy(logits, words, label_smoothing=smoothing, reduction="sum")
