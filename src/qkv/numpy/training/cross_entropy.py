"""The loss: how improbable the model held the word that came."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.numpy.attention.log_softmax import log_softmax
from qkv.numpy.attention.softmax import Floats, softmax
from qkv.shapes import (
    check_counted,
    check_gradient_of,
    check_loss_gradient,
    check_target,
    check_targets,
    check_total,
)

__all__ = ["cross_entropy", "cross_entropy_backward"]

Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]


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
    Source: Szegedy et al. 2016, section 7, in PyTorch's convention of ε / V; softcap: Gemma Team
        2024, section 2.
    """
    call = "cross_entropy"
    check_targets(call, logits, targets, label_smoothing, weight, reduction, softcap)
    counted = _counted(call, logits, targets, ignore_index)
    total = _total(call, targets, counted, ignore_index, weight) if reduction == "mean" else 1.0
    label_smoothing = float(label_smoothing)
    softcap = None if softcap is None else float(softcap)
    rows, words = logits[counted], targets[counted]  # (N, V), (N,): what is ignored may be anything
    log = log_softmax(_capped(rows, softcap))  # (N, V)
    loss = -(1 - label_smoothing) * log[np.arange(len(words)), words]  # (N,)
    if weight is not None:
        loss *= weight[words]
    if label_smoothing:  # a score of −∞ would make 0 · ∞ of it
        spread = log.mean(-1) if weight is None else (log * weight).mean(-1)  # (N,)
        loss -= label_smoothing * spread
    if reduction != "none":
        one: np.floating[Any] = loss.sum() / total
        return one
    every = np.zeros(targets.shape, logits.dtype)  # (...)
    every[counted] = loss
    return every


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
    """Push a gradient through the loss: (softmax(logits) − q) / N, and zero where nothing counts.

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
    check_targets(call, logits, targets, label_smoothing, weight, reduction, softcap)
    counted = _counted(call, logits, targets, ignore_index)
    total = _total(call, targets, counted, ignore_index, weight) if reduction == "mean" else 1.0
    label_smoothing = float(label_smoothing)
    softcap = None if softcap is None else float(softcap)
    rows, words = logits[counted], targets[counted]  # (N, V), (N,)
    N, V = rows.shape
    capped = _capped(rows, softcap)
    target = (1 - label_smoothing) * (1 if weight is None else weight[words])  # (N,) or a number
    others = label_smoothing / V * (1 if weight is None else weight)  # (V,) or a number
    drows = softmax(capped)  # (N, V)
    if weight is not None:
        drows *= (target + others.sum())[:, None]
    drows -= others
    drows[np.arange(N), words] -= target
    if softcap is not None:
        drows *= 1 - (capped / softcap) ** 2
    if reduction == "none":
        check_gradient_of(call, np.asarray(dout), targets.shape)
        drows *= np.asarray(dout)[counted][:, None]
    else:
        check_loss_gradient(call, dout)
        drows *= float(dout) / total
    dlogits = np.zeros(logits.shape, logits.dtype)  # (..., V)
    dlogits[counted] = drows
    return dlogits


def _capped(rows: Floats, softcap: float | None) -> Floats:
    """Logits that go no further than ±softcap."""
    return rows if softcap is None else float(softcap) * np.tanh(rows / float(softcap))


def _total(
    call: str, targets: Ints, counted: Bools, ignore_index: int | None, weight: Floats | None
) -> float:
    """What the sum of all losses is divided by for their mean."""
    N = int(counted.sum())
    check_counted(call, N, targets, ignore_index)
    if weight is None:
        return N
    total = float(weight[targets[counted]].sum())
    check_total(call, total)
    return total


def _counted(call: str, logits: Floats, targets: Ints, ignore_index: int | None) -> Bools:
    """Where a target counts, (...); refuses what is no word."""
    V = logits.shape[-1]
    counted = np.ones(targets.shape, bool)
    if ignore_index is not None:
        counted = np.asarray(targets != ignore_index)
    wrong = np.argwhere(counted & ((targets < 0) | (targets >= V)))
    if len(wrong):
        at = tuple(map(int, wrong[0]))
        check_target(call, int(targets[at]), at, V)
    return counted
