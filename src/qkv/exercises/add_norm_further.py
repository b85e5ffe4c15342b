"""The exercises on Add & Norm that stand behind its core: the check of each answer."""

from __future__ import annotations

import numpy as np

from qkv.exercises.add_norm_helpers import INPUTS, SAME, normed, reject_other_dtype
from qkv.exercises.checks import (
    WrongAnswer,
    as_array,
    as_function,
    exercise,
    is_close,
    reject,
    reject_each,
)
from qkv.numpy import layer_norm_backward


@exercise("add_norm-5")
def rms_norm_built(answer: object) -> str:
    """`f(x, gamma)` is γ x / √(mean x² + ε) over the last axis."""
    function = as_function(answer)
    for x, gamma, _ in INPUTS:
        got = as_array(function(x, gamma))
        reject(
            got.shape != x.shape,
            f"For x of shape {x.shape} the shape is {got.shape}.",
            "Every step keeps the shape. Which axis does keepdims=True keep?",
        )
        square = (x * x).mean(axis=-1, keepdims=True)
        eps = 1e-5
        if is_close(got, gamma * x / np.sqrt(square + eps), SAME[x.dtype.char]):
            reject_other_dtype(got, x)
            continue
        reject_each(
            got,
            (gamma * normed(x), "That is LayerNorm.", "Which of its steps does RMSNorm leave out?"),
            (
                gamma * x / np.sqrt(x.var(axis=-1, keepdims=True) + eps),
                "The variance is taken about the mean.",
                "RMS is the root of the mean of the squares of x itself.",
            ),
            (x / np.sqrt(square + eps), "γ is not used.", "The formula ends in a product."),
            (
                gamma * x / np.sqrt((x * x).sum(axis=-1, keepdims=True) + eps),
                "The squares are added up, and no mean is taken.",
                "What do the letters R, M and S stand for?",
            ),
            (
                gamma * x / (np.sqrt(square) + eps),
                "ε stands outside the root.",
                "Add it to the mean square, and take the root of the sum.",
            ),
            (
                gamma * x / np.sqrt(square),
                "ε is missing.",
                "What does your function give for a vector of zeros?",
            ),
            (
                gamma * x / np.sqrt((x * x).mean() + eps),
                "All tokens share one mean square.",
                "Each token has its own. Over which axis do its numbers lie?",
            )
            if x.ndim > 1
            else (None, "", ""),
            tolerance=SAME[x.dtype.char],
        )
        raise WrongAnswer(
            f"Some numbers are off for x of shape {x.shape}.",
            "Try 3, 4 with γ = 1: the mean square is 12.5.",
        )
    return "right: no mean, no β."


@exercise("add_norm-6")
def lost_gradient(answer: object) -> str:
    """A dout, not all equal, for which LayerNorm of 1, 4, 7 sends nothing back."""
    dout = as_array(answer).ravel().astype(float)
    reject(dout.shape != (3,), "Three numbers were asked for.", "dout has the shape of the output.")
    largest = float(np.abs(dout).max())
    reject(not np.isfinite(dout).all(), "These are no finite numbers.", "Use small whole numbers.")
    reject(
        largest < 1e-3, "All three are 0, or nearly.", "A dout of zeros sends nothing back, too."
    )
    reject(
        float(np.ptp(dout)) < 1e-3 * largest,
        "All three are equal.",
        "That is one of the two directions. The other one is the output itself.",
    )
    x = np.array([1.0, 4, 7])
    dx, _, _ = layer_norm_backward(dout, x, np.ones(3), 1e-12)
    reject(
        float(np.abs(dx).max()) > 2e-3 * largest,
        f"dx is {np.round(dx, 2).tolist()}.",
        "A small step of x in which directions leaves the output as it is? x + 1 is one, 2x is "
        "another. What does 2x do to the normalised vector?",
    )
    return "right: the output, and any sum of it with equal numbers."
