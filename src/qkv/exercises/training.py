"""The exercises of the chapter on training: the check of each answer."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import as_array, exercise, is_close, reject, reject_each
from qkv.exercises.training_further import half_the_peak, same_smoothing
from qkv.exercises.training_loss import loss_and_gradient
from qkv.exercises.training_runs import diagnose

__all__ = [
    "diagnose",
    "gradient_by_hand",
    "half_the_peak",
    "loss_and_gradient",
    "same_smoothing",
    "two_models",
]

TOLERANCE = 6e-3  # two decimals will do


@exercise("training-1")
def two_models(answer: object) -> str:
    """Mean loss of p = 0.9, 0.9, 0.9, 0.01, and of 0.5 four times."""
    got = as_array(answer).ravel().astype(float)
    reject(got.size != 2, "Two numbers were asked for.", "First the loss of A, then that of B.")
    a, b = np.array([0.9, 0.9, 0.9, 0.01]), np.full(4, 0.5)
    right = np.array([-np.log(p).mean() for p in (a, b)])
    reject_each(
        got,
        (right[::-1], "The two are exchanged.", "A is the model with the 0.01."),
        (-right, "The sign is wrong.", "The logarithm of a number below 1 is negative."),
        (4 * right, "These are sums.", "The loss of a sentence is a mean over its tokens."),
        (
            [-np.log(p.mean()) for p in (a, b)],
            "The mean was taken before the logarithm.",
            "Each token has a loss of its own. Average the losses, not the probabilities.",
        ),
        (
            right / np.log(10),
            "This is the logarithm to base 10.",
            "The book uses the natural logarithm: −ln 0.5 = 0.693.",
        ),
        (right / np.log(2), "This is the logarithm to base 2.", "ln is the one to base e."),
        (
            [1 - p.mean() for p in (a, b)],
            "No logarithm was taken.",
            "What does a token with p = 0.01 cost?",
        ),
        tolerance=TOLERANCE,
    )
    reject(
        not is_close(got, right, TOLERANCE),
        "Not these numbers.",
        "Four losses −ln p for each model, then their mean.",
    )
    return "right. A has the larger probability three times, and the larger loss."


@exercise("training-2")
def gradient_by_hand(answer: object) -> str:
    """Gradient of the mean loss of two words and a <PAD>, on the logits (3, 3)."""
    got = as_array(answer, shape=(3, 3)).astype(float)
    p = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    y = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    counts = np.array([[1], [1], [0]])
    right = (p - y) * counts / 2
    reject_each(
        got,
        (-right, "The signs are reversed.", "This is a gradient, and the step goes against it."),
        ((p - y) / 3, "Row 2 predicts <PAD>.", "Does a row that is not counted have a gradient?"),
        (p - y, "Row 2 predicts <PAD>, and the loss is a mean.", "Which rows count, and how many?"),
        ((p - y) * counts, "The loss is a mean.", "By how many words is the sum divided?"),
        (
            (p - y) * counts / 3,
            "This is divided by 3.",
            "How many of the three rows count in the mean?",
        ),
        ((p - y) / 2, "Row 2 still has a gradient.", "Its answer is <PAD>."),
        (-y * counts / p / 2, "That is the gradient on p.", "On the logits it is p − y."),
        tolerance=1e-3,
    )
    reject(
        not is_close(got, right, 1e-3),
        "Some entries are off.",
        "Write p − y for each row that counts. Then divide by the number of these rows.",
    )
    return "right. Each row sums to 0: what one logit loses, the others gain."
