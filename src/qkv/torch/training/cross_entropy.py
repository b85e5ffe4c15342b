"""The loss: how improbable the model held the word that came."""

import torch
import torch.nn.functional as F
from torch import Tensor

from qkv.shapes import (
    check_counted,
    check_target,
    check_targets,
    check_total,
)

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
    """Cross-entropy of the targets that count: −Σ q log softmax(logits), and the mean of these.

    q puts 1 − ε on the target and spreads ε over all V words, the target among them: ε / V each.
    With class weights w it is −Σ q w log softmax(logits), and the average that of w[targets]:
    Σ loss / Σ w[targets].

    Args:
        logits: (..., V) scores before softmax.
        targets: (...) the words that came, integers in [0, V).
        label_smoothing: ε in [0, 1].
        ignore_index: targets of this value, such as padding, do not count; None counts all.
        weight: (V,) class weights, one for each word; None is 1 for all.
        reduction: "mean"; "sum"; or "none", the loss of each target, 0 where it does not count.
        softcap: cap the logits softly, softcap · tanh(logits / softcap); None leaves them.
    Returns:
        One number, or (...) with "none", of the dtype of the logits.
    Raises:
        ValueError: shapes do not fit, a target is no word (its place is named), or none counts, so
            that there is no mean.
            While torch compiles, only shapes are looked at.
    Source: Szegedy et al. 2016, section 7, in PyTorch's convention of ε / V; softcap: Gemma Team
        2024, section 2.
    """
    call = "cross_entropy"
    check_targets(call, logits, targets, label_smoothing, weight, reduction, softcap)
    if not torch.compiler.is_compiling():
        _check_words(call, targets, logits.shape[-1], ignore_index, weight, reduction)
    if softcap is not None:
        logits = float(softcap) * torch.tanh(logits / float(softcap))  # (..., V)
    loss = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),  # (N, V)
        targets.reshape(-1).long(),  # (N,)
        weight,
        label_smoothing=float(label_smoothing),
        ignore_index=-1 if ignore_index is None else ignore_index,  # no word is −1
        reduction=reduction,
    )
    return loss.reshape(targets.shape) if reduction == "none" else loss


def _check_words(
    call: str,
    targets: Tensor,
    V: int,
    ignore_index: int | None,
    weight: Tensor | None,
    reduction: str,
) -> None:
    """Refuse what the loss has no value for."""
    counted = torch.ones_like(targets, dtype=torch.bool)
    if ignore_index is not None:
        counted = targets != ignore_index
    wrong = (counted & ((targets < 0) | (targets >= V))).nonzero()
    if len(wrong):
        at = tuple(wrong[0].tolist())
        check_target(call, int(targets[at]), at, V)
    if reduction == "mean":
        check_counted(call, int(counted.sum()), targets, ignore_index)
        if weight is not None:
            check_total(call, float(weight[targets[counted].long()].sum()))
