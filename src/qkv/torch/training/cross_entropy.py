"""The loss: how surprised the model is by the word that came."""

import torch
import torch.nn.functional as F
from torch import Tensor

from qkv.shapes import check_counted, check_target, check_targets

__all__ = ["cross_entropy"]


def cross_entropy(
    logits: Tensor,
    targets: Tensor,
    *,
    label_smoothing: float = 0.0,
    ignore_index: int | None = None,
) -> Tensor:
    """Average the surprise over the targets that count: −Σ q log softmax(logits).

    q puts 1 − ε on the target and spreads ε over all V words, the target among them: ε / V each.

    Args:
        logits: (..., V) scores before softmax.
        targets: (...) the words that came, integers in [0, V).
        label_smoothing: ε in [0, 1).
        ignore_index: targets of this value, such as padding, do not count; None counts all.
    Returns:
        One number, of the dtype of the logits.
    Raises:
        ValueError: shapes do not fit, a target is no word (its place is named), or none counts.
            While torch compiles, only shapes are looked at.
    Source: Szegedy et al. 2016, section 7, in PyTorch's convention of ε / V.
    """
    check_targets("cross_entropy", logits, targets, label_smoothing)
    if not torch.compiler.is_compiling():
        _check_words("cross_entropy", targets, logits.shape[-1], ignore_index)
    return F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),  # (N, V)
        targets.reshape(-1).long(),  # (N,)
        label_smoothing=label_smoothing,
        ignore_index=-1 if ignore_index is None else ignore_index,  # no word is −1
    )


def _check_words(call: str, targets: Tensor, V: int, ignore_index: int | None) -> None:
    """Refuse what the loss has no value for."""
    counted = torch.ones_like(targets, dtype=torch.bool)
    if ignore_index is not None:
        counted = targets != ignore_index
    wrong = (counted & ((targets < 0) | (targets >= V))).nonzero()
    if len(wrong):
        at = tuple(wrong[0].tolist())
        check_target(call, int(targets[at]), at, V)
    check_counted(call, int(counted.sum()), targets, ignore_index)
