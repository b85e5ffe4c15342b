"""The exercises of the chapter on decoding that stand under Going further."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import (
    WrongAnswer,
    as_function,
    as_number,
    exercise,
    is_close,
    reject,
    reject_each,
)

__all__ = ["flip_penalty", "nucleus"]

FLIP = np.log(3.0 / 2.4) / np.log(5 / 3)  # 0.437


@exercise("decoding-5")
def nucleus(answer: object) -> str:
    """`f(p, top_p)` gives the probabilities of top-p sampling: cut, and of sum 1 again."""
    function = as_function(answer)
    for p, top_p, kept in (
        ([0.1, 0.45, 0.05, 0.4], 0.8, [1, 3]),
        ([0.1, 0.45, 0.05, 0.4], 0.3, [1]),
        ([0.3, 0.125, 0.5, 0.075], 0.875, [0, 1, 2]),
        ([0.125, 0.125, 0.5, 0.25], 0.75, [2, 3]),
        ([0.2, 0.7, 0.1], 1.0, [0, 1, 2]),
    ):
        array = np.array(p)
        got = np.asarray(function(array, top_p), float)
        given = array.copy()
        answer(given, top_p)  # type: ignore[operator]
        reject(
            not np.array_equal(given, array),
            "Your function changes its input.",
            "Write the result into an array of its own.",
        )
        reject(
            got.shape != array.shape,
            f"The shape is {got.shape}, not {array.shape}.",
            "One probability for each word, 0 for those that are cut, in the order of p.",
        )
        right = np.zeros_like(array)
        right[kept] = array[kept]
        reject(
            is_close(got, right) and top_p < 1,
            "The probabilities do not sum to 1.",
            "Divide those that are left by their sum.",
        )
        right /= right.sum()
        if is_close(got, right):
            continue
        reject(not got.any() or np.isnan(got).any(), "No word is left.", "The likeliest stays.")
        reject(
            np.count_nonzero(got) < len(kept),
            f"With top_p = {top_p} too few words are left.",
            "The word that makes the sum reach top_p stays too.",
        )
        reject(
            np.count_nonzero(got) > len(kept),
            f"With top_p = {top_p} too many words are left.",
            "Stop as soon as the sum reaches top_p.",
        )
        raise WrongAnswer(
            "The wrong words are left, or they stand in another order.",
            "Sort, cut, and put each probability back at the place that it came from.",
        )
    for n, top_p, left in ((4, 0.5, 2), (8, 0.375, 3)):  # any of the equal ones may stay
        got = np.asarray(function(np.full(n, 1 / n), top_p), float)
        reject(
            got.shape != (n,) or not is_close(np.sort(got), [0] * (n - left) + [1 / left] * left),
            f"With top_p = {top_p}, {left} of {n} equal words have to be left.",
            "Of equal words, too, no more stay than the sum needs. A limit keeps all of them.",
        )
    return "right. The number of words that stay changes with the distribution."


@exercise("decoding-6")
def flip_penalty(answer: object) -> str:
    """The α at which sums of −2.4 over 3 tokens and −3.0 over 5 score the same: 0.437."""
    got = as_number(answer)
    reject_each(
        got,
        (3.0 / 2.4, "That is the ratio of the sums.", "Which power of 5 / 3 is it?"),
        (1 / FLIP, "That is its reciprocal.", "Take logarithms of 1.25 = (5 / 3)^α."),
        (-FLIP, "The sign is wrong.", "With α = 0 the shorter wins. Must α rise or fall?"),
        (
            np.log(3.0 / 2.4) / np.log(4 / 2),
            "<eos> was left out of the lengths.",
            "The lengths in the question count it already.",
        ),
        tolerance=0.01,
    )
    reject(
        not is_close(got, FLIP, 0.01),
        "Not this number.",
        "Set 2.4 / 3^α = 3.0 / 5^α, and take logarithms.",
    )
    return "right: ln 1.25 / ln (5 / 3). Above it the longer sentence wins."
