"""The loss: how surprised the model is by the word that came."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.numpy.attention.softmax import Floats, softmax
from qkv.shapes import check_counted, check_loss_gradient, check_target, check_targets

__all__ = ["cross_entropy", "cross_entropy_backward"]

Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]


def cross_entropy(
    logits: Floats,
    targets: Ints,
    *,
    label_smoothing: float = 0.0,
    ignore_index: int | None = None,
) -> "np.floating[Any]":
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
    Source: Szegedy et al. 2016, section 7, in PyTorch's convention of ε / V.
    """
    counted = _counted("cross_entropy", logits, targets, label_smoothing, ignore_index)
    rows, words = logits[counted], targets[counted]  # (N, V), (N,): what is ignored may be anything
    rows -= rows.max(-1, keepdims=True)
    surprise = np.log(np.exp(rows).sum(-1))  # (N,), and less the score of a word: −log softmax
    surprise -= (1 - label_smoothing) * rows[np.arange(len(words)), words]
    if label_smoothing:  # a score of −∞ would make 0 · ∞ of it
        surprise -= label_smoothing * rows.mean(-1)
    mean: np.floating[Any] = surprise.mean()
    return mean


def cross_entropy_backward(
    dout: "float | np.floating[Any] | Floats",
    logits: Floats,
    targets: Ints,
    *,
    label_smoothing: float = 0.0,
    ignore_index: int | None = None,
) -> Floats:
    """Push a gradient through the loss: (softmax(logits) − q) / N, and zero where nothing counts.

    Args:
        dout: gradient with respect to the loss, one number; 1.0 for the loss itself.
        logits, targets, label_smoothing, ignore_index: as the forward took them.
    Returns:
        (..., V) gradient with respect to the logits.
    Raises:
        ValueError: as the forward, or dout is no single number.
    """
    call = "cross_entropy_backward"
    counted = _counted(call, logits, targets, label_smoothing, ignore_index)
    check_loss_gradient(call, dout)
    rows, words = logits[counted], targets[counted]  # (N, V), (N,)
    N, V = rows.shape
    rows = softmax(rows)
    rows -= label_smoothing / V
    rows[np.arange(N), words] -= 1 - label_smoothing
    rows *= float(dout) / N
    dlogits = np.zeros(logits.shape, logits.dtype)  # (..., V)
    dlogits[counted] = rows
    return dlogits


def _counted(
    call: str, logits: Floats, targets: Ints, label_smoothing: float, ignore_index: int | None
) -> Bools:
    """Where a target counts, (...); refuses what the loss has no value for."""
    check_targets(call, logits, targets, label_smoothing)
    V = logits.shape[-1]
    counted = np.ones(targets.shape, bool)
    if ignore_index is not None:
        counted = np.asarray(targets != ignore_index)
    wrong = np.argwhere(counted & ((targets < 0) | (targets >= V)))
    if len(wrong):
        at = tuple(map(int, wrong[0]))
        check_target(call, int(targets[at]), at, V)
    check_counted(call, int(counted.sum()), targets, ignore_index)
    return counted
