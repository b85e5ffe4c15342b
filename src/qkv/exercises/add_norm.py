"""The exercises of the chapter on Add & Norm: the check of each answer."""

from __future__ import annotations

import numpy as np

from qkv.exercises.add_norm_further import lost_gradient, rms_norm_built
from qkv.exercises.add_norm_helpers import (
    TOLERANCE,
    normed,
)
from qkv.exercises.add_norm_pre_norm import pre_norm_built
from qkv.exercises.checks import as_array, as_letters, exercise, is_close, reject, reject_each

__all__ = [
    "evidence",
    "four_numbers",
    "lost_gradient",
    "pre_norm_built",
    "rms_norm_built",
    "two_that_become_one",
]

FOUR = np.array([2.0, 4, 6, 8])
GAMMA, BETA = np.array([1.0, 1, 2, 2]), np.array([0.0, 0, 0, 3])


@exercise("add_norm-1")
def four_numbers(answer: object) -> str:
    """LayerNorm of 2, 4, 6, 8 with γ = (1, 1, 2, 2) and β = (0, 0, 0, 3)."""
    got = as_array(answer).ravel().astype(float)
    reject(got.shape != (4,), "Four numbers were asked for.", "The norm keeps the shape.")
    normal = normed(FOUR)
    reject_each(
        got,
        (normal, "γ and β are missing.", "The norm is done. What are its last two steps?"),
        (GAMMA * normal, "β is missing.", "Which numbers are added after the product with γ?"),
        (normal + BETA, "γ is missing.", "Which numbers of the vector are doubled?"),
        (
            GAMMA * (normal + BETA),
            "β was added before the product with γ.",
            "Read the formula from the fraction outwards.",
        ),
        (GAMMA + BETA * normal, "γ and β have changed places.", "Which of them starts at 1?"),
        (
            GAMMA * normed(FOUR, ddof=1) + BETA,
            "The variance was divided by 3.",
            "LayerNorm's variance is a mean: the squares are four numbers.",
        ),
        (
            GAMMA * (FOUR - 5) / 5 + BETA,
            "The differences were divided by the variance.",
            "What stands around the variance in the formula?",
        ),
        (
            GAMMA * FOUR / np.sqrt(5) + BETA,
            "The mean was not subtracted.",
            "What is done to the numbers before they are divided?",
        ),
        tolerance=TOLERANCE,
    )
    reject(
        not is_close(got, GAMMA * normal + BETA, TOLERANCE),
        "Not these numbers.",
        "In this order: mean, differences, mean of the squares, root, divide, γ, β.",
    )
    return "right. Only the third and the fourth number differ from the plain norm."


@exercise("add_norm-2")
def two_that_become_one(answer: object) -> str:
    """Two vectors of three numbers, no multiples of each other, with one LayerNorm output."""
    pair = as_array(answer, (2, 3)).astype(float)
    first, second = pair
    reject(
        not np.isfinite(pair).all() or bool((np.abs(pair) > 100).any()),
        "Some number is too large.",
        "Use numbers between 1 and 100.",
    )
    reject(
        bool((np.ptp(pair, axis=1) < 0.5).any()),
        "The numbers of one vector are equal, or nearly.",
        "Begin with 1, 4, 7, whose norm you know.",
    )
    reject(
        bool(np.abs(first - second).max() < 0.1),
        "The two are the same, or nearly.",
        "Change the second vector by more.",
    )
    cross = np.cross(first, second)
    reject(
        bool(np.abs(cross).max() < 1e-6 * np.abs(pair).max() ** 2),
        "One is a multiple of the other.",
        "A factor leaves the norm unchanged. So does another change: see the first step.",
    )
    a, b = normed(first, eps=0.0), normed(second, eps=0.0)
    reject(
        is_close(a, -b, 1e-3),
        "The outputs have opposite signs.",
        "A negative factor turns every sign round. Which factors do not?",
    )
    reject(
        is_close(np.sort(a), np.sort(b), 1e-3) and not is_close(a, b, 1e-3),
        "The outputs hold the same numbers in another order.",
        "The norm keeps the order of the numbers. So the second vector has to keep it too.",
    )
    reject(
        not is_close(a, b, 1e-4),
        "The outputs differ.",
        "Compute both by hand. What does subtracting the mean take away?",
    )
    return (
        "right: the norm sees neither a shift of all numbers nor a positive factor. "
        "A token loses its common level and its scale."
    )


@exercise("add_norm-3")
def evidence(answer: object) -> str:
    """The observations that prove that a norm mixes tokens: A and D."""
    letters = as_letters(answer, "ABCDE")
    reject(
        "B" in letters,
        "B is what every norm does.",
        "Whose output may move when a token is replaced?",
    )
    reject("C" in letters, "C is what LayerNorm promises.", "It fits a correct layer as well.")
    reject(
        "E" in letters,
        "E fits a correct LayerNorm.",
        "What is left of x + 1 after its mean has been subtracted?",
    )
    reject("A" not in letters, "One is missing.", "Which output has read another token?")
    reject(
        "D" not in letters,
        "Another is missing.",
        "What if the mean is taken over the sentences of the batch?",
    )
    return "right: A and D show an output that depends on another token."
