"""Cross-entropy with label smoothing, class weights and logit softcapping."""

import torch
import torch.nn.functional as F
from torch import Tensor

from qkv.shapes.training import (
    check_loss_options,
    check_target,
    check_target_count,
    check_total_weight,
)
from qkv.torch.checks import check_shapes

__all__ = ["cross_entropy"]


def cross_entropy(
    logits: Tensor,
    targets: Tensor,
    *,
    label_smoothing: float = 0.0,
    ignore_index: int | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    softcap: float | None = None,
) -> Tensor:
    """Cross-entropy with label smoothing: −Σ q log softmax(logits), and the mean of these.

    As `qkv.numpy.cross_entropy`.

    While torch compiles, only shapes are looked at.
    """
    call = "cross_entropy"
    check_shapes(
        call, logits=(logits, "... V+"), targets=(targets, "int ..."), weight=(weight, "V")
    )
    check_loss_options(call, label_smoothing, reduction, softcap)
    if not torch.compiler.is_compiling():
        _check_classes(call, targets, logits.shape[-1], ignore_index, weight, reduction)
    if softcap is not None:
        logits = float(softcap) * torch.tanh(logits / float(softcap))  # (..., V)
    loss = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),  # (N, V)
        targets.reshape(-1).long(),  # (N,)
        weight,
        label_smoothing=float(label_smoothing),
        ignore_index=-1 if ignore_index is None else ignore_index,  # no class is −1
        reduction=reduction,
    )
    return loss.reshape(targets.shape) if reduction == "none" else loss


def _check_classes(
    call: str,
    targets: Tensor,
    V: int,
    ignore_index: int | None,
    weight: Tensor | None,
    reduction: str,
) -> None:
    """Refuse targets that are no class, and a mean over none."""
    counted = torch.ones_like(targets, dtype=torch.bool)
    if ignore_index is not None:
        counted = targets != ignore_index
    outside = (counted & ((targets < 0) | (targets >= V))).nonzero()
    if len(outside):
        place = tuple(outside[0].tolist())
        check_target(call, int(targets[place]), place, V)
    if reduction == "mean":
        check_target_count(call, int(counted.sum()), targets, ignore_index)
        if weight is not None:
            check_total_weight(call, float(weight[targets[counted].long()].sum()))
