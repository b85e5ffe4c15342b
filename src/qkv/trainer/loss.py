"""Training loss of a translation model: hidden states, output projection and cross-entropy."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from qkv.text import PAD, Batch
from qkv.torch import Transformer
from qkv.trainer.fused_linear_cross_entropy import linear_cross_entropy

__all__ = ["TranslationLoss", "batch_tensors"]


def batch_tensors(batch: Batch, device: torch.device) -> tuple[Tensor, ...]:
    """What `TranslationLoss` takes of a batch: on its way to the device when this returns.

    Args:
        batch: of token ids, as `collate` and `bucketed_batches` give it.
        device: where the model is.
    Returns:
        (B, S) source, (B, T) what the decoder reads, and of the N tokens that it is to predict,
        padding left out, the (N,) positions among the B · T and the (N,) ids.
    """
    is_target = batch.target_out != PAD
    positions = np.flatnonzero(is_target)  # counted here, so that no GPU is waited for
    arrays = batch.source, batch.target_in, positions, batch.target_out[is_target]
    tensors = [torch.from_numpy(array) for array in arrays]
    if device.type == "cuda":
        tensors = [x.pin_memory() for x in tensors]
    return tuple(x.to(device, non_blocking=True) for x in tensors)


class TranslationLoss(nn.Module):
    """Cross-entropy of a model's predictions of the target, summed over its tokens.

    Args:
        model: what learns.
        label_smoothing: of the loss while training; in eval mode there is none.
        fused: take projection and loss together, a few rows at a time; a compiler does that itself.
    """

    def __init__(self, model: Transformer, label_smoothing: float, fused: bool = True) -> None:
        super().__init__()
        self.model, self.label_smoothing, self.fused = model, label_smoothing, fused

    def forward(
        self, source: Tensor, target_in: Tensor, positions: Tensor, targets: Tensor
    ) -> Tensor:
        """The sum over all tokens of the target.

        Args:
            source: (B, S) token ids.
            target_in: (B, T), what the decoder reads.
            positions: (N,), which of the B · T positions are followed by a token, not by padding.
            targets: (N,), these tokens.
        Returns:
            One number, of at least float32.
        """
        model, smoothing = self.model, self.label_smoothing if self.training else 0.0
        x = model.hidden_states(source, target_in)  # (B, T, d_model)
        x = x.flatten(0, 1).index_select(0, positions)  # (N, d_model): no logits for padding
        if self.fused and torch.is_grad_enabled():
            weight, bias, pad_id = model.output_projection()
            return linear_cross_entropy(x, weight, bias, targets, smoothing, pad_id)
        logits = model.output(x)  # (N, V)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return F.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum")
