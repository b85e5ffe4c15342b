"""The exercise of the chapter on training that builds the loss and its gradient."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import WrongAnswer, as_function, exercise, is_close, reject
from qkv.numpy import cross_entropy, cross_entropy_backward

__all__ = ["loss_and_gradient"]

Array: TypeAlias = np.ndarray[Any, Any]
PAD = 0


@exercise("training-4")
def loss_and_gradient(answer: object) -> str:
    """`f(logits, targets, pad_id)` gives the mean loss of the words, and its gradient (B, T, V)."""
    function = as_function(answer)
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(2, 3, 5))  # (B, T, V)
    full, padded = np.array([[1, 4, 2], [3, 1, 2]]), np.array([[1, 4, 2], [3, PAD, PAD]])
    for targets, pad_id in ((full, PAD), (padded, PAD), (np.where(padded == PAD, 4, padded), 4)):
        loss, gradient = _read(function(logits.copy(), targets.copy(), pad_id), logits.shape)
        _name_loss(loss, logits, targets, pad_id)
        _name_gradient(gradient, logits, targets, pad_id)
    far = logits * 1000
    with np.errstate(all="ignore"):
        loss, gradient = _read(function(far.copy(), padded.copy(), PAD), far.shape)
    expected = float(cross_entropy(far, padded, ignore_index=PAD))
    reject(
        not is_close(loss, expected) or not np.isfinite(gradient).all(),
        "With logits of 1000 the result is not finite, or wrong.",
        "e^1000 is too large for a float, and ln 0 is −∞. Subtract each row's largest logit first, "
        "and take the logarithm of the sum, not of p.",
    )
    slope = cross_entropy_backward(1.0, far, padded, ignore_index=PAD)
    reject(
        not is_close(gradient, slope),
        "With logits of 1000 the gradient is finite, and wrong.",
        "Does each of its rows still hold p − y? A nan that was replaced by 0 is no probability.",
    )
    return "right: padding counts neither in the loss nor in the mean nor in the gradient."


def _read(result: Any, shape: tuple[int, ...]) -> tuple[float, Array]:
    reject(
        not isinstance(result, tuple | list) or len(result) != 2,
        "Two results were asked for.",
        "End with: return loss, gradient.",
    )
    loss, gradient = np.asarray(result[0], dtype=float), np.asarray(result[1], dtype=float)
    reject(loss.size != 1, "The loss is not one number.", "Average over all words of the batch.")
    reject(
        gradient.shape != shape,
        f"The gradient has the shape {gradient.shape}; the logits have {shape}.",
        "One number for each logit, those of <PAD> included.",
    )
    return float(loss.reshape(())), gradient


def _name_loss(got: float, logits: Array, targets: Array, pad_id: int) -> None:
    losses = np.asarray(cross_entropy(logits, targets, reduction="none"))  # (B, T)
    words = targets != pad_id
    right = losses[words].mean()
    if is_close(got, right):
        return
    reject(is_close(got, -right), "The loss has the wrong sign.", "It is −ln p, at least 0.")
    reject(is_close(got, losses.mean()), "<PAD> counts.", "Which positions are words?")
    reject(
        is_close(got, losses[words].sum() / targets.size),
        "The loss of padding is 0, but padding counts in the mean.",
        "Divide by the number of words.",
    )
    reject(
        is_close(got, losses[words].sum()),
        "This is a sum.",
        "Long batches would have larger losses. Take the mean over the words.",
    )
    per_sentence = [row[mask].mean() for row, mask in zip(losses, words, strict=True)]
    reject(
        is_close(got, np.mean(per_sentence)),
        "This is a mean of the sentences' means.",
        "A word of a short sentence must not count more than a word of a long one.",
    )
    raise WrongAnswer(
        "The loss is not that of the words.",
        "Try it on one sentence without padding: softmax, p of each right word, −ln p, mean.",
    )


def _name_gradient(got: Array, logits: Array, targets: Array, pad_id: int) -> None:
    right = cross_entropy_backward(1.0, logits, targets, ignore_index=pad_id)
    if is_close(got, right):
        return
    words = targets != pad_id
    reject(is_close(got, -right), "The gradient has the wrong sign.", "It is p − y, not y − p.")
    reject(
        is_close(got, right * words.sum()),
        "The gradient is that of the sum.",
        "The loss is a mean over the words, so divide the gradient as well.",
    )
    reject(
        bool(np.abs(got[~words]).max(initial=0) > 0),
        "A position of <PAD> has a gradient.",
        "It does not count in the loss. So what happens to the loss when its logits change?",
    )
    reject(
        is_close(got, right * words.sum() / targets.size),
        "The gradient is divided by all positions.",
        "Divide by what the loss was divided by.",
    )
    raise WrongAnswer(
        "The loss is right, the gradient is not.",
        "p − y at each word: subtract 1 from p at the right word, and nowhere else.",
    )
