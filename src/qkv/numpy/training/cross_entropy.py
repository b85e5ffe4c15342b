"""Cross-entropy with label smoothing, class weights and logit softcapping, and its backward."""

from typing import Any

import numpy as np

from qkv.numpy.array_types import Bools, Floats, Ints
from qkv.numpy.attention.log_softmax import log_softmax_formula
from qkv.numpy.attention.softmax import softmax
from qkv.numpy.checks import check_shapes
from qkv.shapes.training import (
    check_loss_gradient,
    check_loss_options,
    check_target,
    check_target_count,
    check_total_weight,
)

__all__ = ["cross_entropy", "cross_entropy_backward"]


def cross_entropy(
    logits: Floats,
    targets: Ints,
    *,
    label_smoothing: float = 0.0,
    ignore_index: int | None = None,
    weight: Floats | None = None,
    reduction: str = "mean",
    softcap: float | None = None,
) -> "np.floating[Any] | Floats":
    """Cross-entropy with label smoothing: −Σ q log softmax(logits), and the mean of these.

    q puts 1 − ε on the target and spreads ε over all V classes, the target among them: ε / V each.
    With class weights w it is −Σ q w log softmax(logits), and the average that of w[targets]:
    Σ loss / Σ w[targets].

    Args:
        logits: (..., V) scores before softmax.
        targets: (...) classes, such as the ids of the next tokens, integers in [0, V).
        label_smoothing: ε in [0, 1].
        ignore_index: targets of this value, such as padding, do not count; None counts all.
        weight: (V,) class weights; None is 1 for all.
        reduction: "mean"; "sum"; or "none", the loss of each target, 0 where it does not count.
        softcap: logit softcapping, softcap · tanh(logits / softcap); None leaves them.
    Returns:
        One number, or (...) with "none", of the dtype of the logits.
    Raises:
        ValueError: shapes do not fit, a target is no class (its place is named), or none counts, so
            that there is no mean.
    Source: Szegedy et al. 2016, section 7, in PyTorch's convention of ε / V; softcap: Gemma Team
        2024, section 2.
    """
    call = "cross_entropy"
    check_shapes(
        call, logits=(logits, "... V+"), targets=(targets, "int ..."), weight=(weight, "V")
    )
    check_loss_options(call, label_smoothing, reduction, softcap)
    rows = _counted_rows(call, logits, targets, ignore_index, weight, reduction, softcap)
    counted, capped, classes, divisor = rows
    label_smoothing = float(label_smoothing)
    log_probs = log_softmax_formula(capped)  # (N, V)
    loss = -(1 - label_smoothing) * log_probs[np.arange(len(classes)), classes]  # (N,)
    if weight is not None:
        loss *= weight[classes]
    if label_smoothing:  # a score of −∞ would make 0 · ∞ of it
        of_all = log_probs.mean(-1) if weight is None else (log_probs * weight).mean(-1)  # (N,)
        loss -= label_smoothing * of_all
    if reduction != "none":
        reduced: np.floating[Any] = loss.sum() / divisor
        return reduced
    losses = np.zeros(targets.shape, logits.dtype)  # (...)
    losses[counted] = loss
    return losses


def cross_entropy_backward(
    dout: "float | np.floating[Any] | Floats",
    logits: Floats,
    targets: Ints,
    *,
    label_smoothing: float = 0.0,
    ignore_index: int | None = None,
    weight: Floats | None = None,
    reduction: str = "mean",
    softcap: float | None = None,
) -> Floats:
    """Backward of cross-entropy: (softmax(logits) − q) / N, and zero where nothing counts.

    With class weights w it is (softmax(logits) · Σ q w − q w) / Σ w[targets].

    Args:
        dout: gradient with respect to the loss, one number, 1.0 for the loss itself; or (...) with
            "none".
        logits, targets, label_smoothing, ignore_index, weight, reduction, softcap: as the forward
            took them.
    Returns:
        (..., V) gradient with respect to the logits.
    Raises:
        ValueError: as the forward, or dout is not shaped like the loss.
    """
    call = "cross_entropy_backward"
    check_shapes(
        call, logits=(logits, "... V+"), targets=(targets, "int ..."), weight=(weight, "V")
    )
    check_loss_options(call, label_smoothing, reduction, softcap)
    rows = _counted_rows(call, logits, targets, ignore_index, weight, reduction, softcap)
    counted, capped, classes, divisor = rows
    N, V = capped.shape
    label_smoothing = float(label_smoothing)
    on_target = (1 - label_smoothing) * (1 if weight is None else weight[classes])  # (N,) or number
    on_each = label_smoothing / V * (1 if weight is None else weight)  # (V,) or a number
    drows = softmax(capped)  # (N, V)
    if weight is not None:
        drows *= (on_target + on_each.sum())[:, None]
    drows -= on_each
    drows[np.arange(N), classes] -= on_target
    if softcap is not None:
        drows *= 1 - (capped / float(softcap)) ** 2
    if reduction == "none":
        check_shapes(call, dout=(np.asarray(dout), targets.shape))
        drows *= np.asarray(dout)[counted][:, None]
    else:
        check_loss_gradient(call, dout)
        drows *= float(dout) / divisor
    dlogits = np.zeros(logits.shape, logits.dtype)  # (..., V)
    dlogits[counted] = drows
    return dlogits


def _counted_rows(
    call: str,
    logits: Floats,
    targets: Ints,
    ignore_index: int | None,
    weight: Floats | None,
    reduction: str,
    softcap: float | None,
) -> tuple[Bools, Floats, Ints, float]:
    """What forward and backward start from: the targets that count, and their softcapped logits.

    Returns:
        counted (...), where a target counts; their logits (N, V) and classes (N,), since what is
        ignored may be anything; and what the sum of their losses is divided by.
    """
    counted = _counted(call, targets, logits.shape[-1], ignore_index)  # (...)
    capped, classes = logits[counted], targets[counted]  # (N, V), (N,)
    if softcap is not None:
        capped = float(softcap) * np.tanh(capped / float(softcap))  # (N, V)
    if reduction != "mean":
        return counted, capped, classes, 1.0
    check_target_count(call, len(classes), targets, ignore_index)
    divisor = len(classes) if weight is None else float(weight[classes].sum())
    if weight is not None:
        check_total_weight(call, divisor)
    return counted, capped, classes, divisor


def _counted(call: str, targets: Ints, V: int, ignore_index: int | None) -> Bools:
    """Where a target counts, (...); refuses what is no class."""
    counted = np.ones(targets.shape, bool)
    if ignore_index is not None:
        counted = np.asarray(targets != ignore_index)
    outside = np.argwhere(counted & ((targets < 0) | (targets >= V)))
    if len(outside):
        place = tuple(map(int, outside[0]))
        check_target(call, int(targets[place]), place, V)
    return counted
