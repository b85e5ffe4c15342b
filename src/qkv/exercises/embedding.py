"""The exercises of the chapter on embeddings: the check of each answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from qkv.exercises.checks import (
    as_array,
    as_function,
    as_letters,
    exercise,
    is_close,
    reject,
    reject_each,
)
from qkv.exercises.embedding_further import evidence, table_gradient
from qkv.exercises.embedding_helpers import as_merges, as_words_and_probabilities

Array = np.ndarray[Any, Any]

__all__ = [
    "evidence",
    "first_merges",
    "likeliest",
    "logits_by_hand",
    "table_gradient",
    "tells_apart",
]


WORDS = ("the", "a", "Eiffel", "miniature", "tower")


def _named(words: Sequence[str]) -> str:
    return ", ".join(f"*{word}*" for word in words)


@exercise("embedding-1")
def logits_by_hand(answer: object) -> str:
    """The logits of x = (−2, 1) for the five words of the chapter."""
    logits = as_array(answer, shape=(5,)).astype(float)
    right = np.array([1, -1, 1, 5, -4])
    reject_each(
        logits,
        (-right, "Every sign is turned.", "x begins with −2. Which number of a row meets it?"),
        ([0, 0, -2, 6, -4], "Only *large* was used.", "A dot product has two terms here."),
        ([1, -1, 3, -1, 0], "Only *famous* was used.", "A dot product has two terms here: large?"),
        ([1, -1, 5, -7, 4], "The −2 counts as +2.", "x begins with a minus sign."),
        (
            np.exp(right) / np.exp(right).sum(),
            "These are probabilities.",
            "The logits are what the softmax is given.",
        ),
        (np.exp(right), "These are the exponentials.", "Stop one step earlier."),
        tolerance=5e-3,
    )
    off = [
        word for word, a, b in zip(WORDS, logits, right, strict=True) if not is_close(a, b, 5e-3)
    ]
    reject(
        is_close(np.abs(logits), np.abs(right), 5e-3) and off,
        f"The sign of {_named(off)} is wrong.",
        "−2 times a negative number is positive; 1 times it stays negative.",
    )
    reject(
        0 < len(off) < 5,
        f"Right except for {_named(off)}.",
        "Write both products of that row: −2 · large and 1 · famous. Then add them.",
    )
    reject(
        off,
        "Not these logits.",
        "One dot product for each row of the table: −2 · large + 1 · famous.",
    )
    return "right. The largest is that of *miniature*: it is the most likely word."


@exercise("embedding-2")
def first_merges(answer: object) -> str:
    """The first two merges of "new new newer lower low": e + w, n + ew."""
    merges = as_merges(answer)
    first, second = merges
    reject(
        first == ("n", "e"),
        "n + e stands there as often as another pair that comes before it.",
        "Which of the equal pairs begins with the token that has the smallest number?",
    )
    reject(
        first == ("▁", "n"),
        "▁ + n is as frequent as two other pairs.",
        "Number the sorted characters. Where does ▁ stand?",
    )
    reject(
        first in (("l", "o"), ("o", "w"), ("w", "e"), ("e", "r")),
        "The first pair is not the most frequent one.",
        "Count the pair n + e for comparison.",
    )
    reject(first != ("e", "w"), "The first merge is another.", "Write down each pair's count.")
    reject(
        second in (("n", "e"), ("w", "e"), ("e", "w")),
        "The second pair no longer stands there that often.",
        "Write the five words again after the first merge, then count.",
    )
    reject(
        second == ("▁", "n"),
        "The second merge: ▁ + n is as frequent as another pair.",
        "▁ has a larger number than every letter.",
    )
    reject(
        second != ("n", "ew"),
        "The second merge is another.",
        "After the first merge, which token stands before the new one?",
    )
    return "right: count again after every merge."


@exercise("embedding-3")
def tells_apart(answer: object) -> str:
    """What makes the last vectors of "the Eiffel tower" and "a miniature tower" differ: C, E."""
    letters = as_letters(answer, "ABCDE")
    for letter, mistake, hint in (
        ("A", "A does not help.", "Which row do both sentences read at the end, after training?"),
        ("B", "B does not help.", "A longer row is still the same row in both sentences."),
        ("D", "D does not help.", "*tower* gets another id, in both sentences."),
    ):
        reject(letter in letters, mistake, hint)
    for letter, mistake, hint in (
        ("C", "One is missing.", "Which change gives the two sentences different last ids?"),
        ("E", "Another is missing.", "Which change lets the last vector depend on its neighbour?"),
    ):
        reject(letter not in letters, mistake, hint)
    return "right: either the id differs, or something after the lookup reads the neighbours."


@exercise("embedding-4")
def likeliest(answer: object) -> str:
    """`f(x, table, vocabulary, k)` gives the k most likely words with their probabilities."""
    function = as_function(answer)
    vocabulary = ["up", "left", "down", "right", "here", "there"]
    rng = np.random.default_rng(3)
    for dtype, k, shift in ((float, 3, 0), (np.float32, 1, 0), (float, 2, 40), (float, 3, -40)):
        table: Array = rng.normal(size=(6, 5)).astype(dtype)
        x: Array = rng.normal(size=5).astype(dtype)
        if shift:  # every logit moves by 1600 or −1600
            table[:, -1], x[-1] = 40, shift
        logits = (table @ x).astype(float)
        p = np.exp(logits - logits.max())
        p /= p.sum()
        order = np.argsort(-p)
        with np.errstate(all="ignore"):
            got = function(x.copy(), table.copy(), list(vocabulary), k)
        words, shares = as_words_and_probabilities(got, vocabulary, k)
        reject(
            not np.isfinite(shares).all(),
            f"With logits near {1600 if shift > 0 else -1600}, your probabilities are no numbers.",
            "What may be subtracted from all logits, so that p does not change?",
        )
        best = [vocabulary[i] for i in order[:k]]
        reject(
            words == [vocabulary[i] for i in order[::-1][:k]],
            "These are the least likely words.",
            "In which direction does argsort sort?",
        )
        reject(
            k > 1 and words == best[::-1],
            "These are the right words, the most likely last.",
            "Turn the list around.",
        )
        reject(
            words != best,
            "These are not the most likely words.",
            "Take the dot product of x with each row; the largest ones decide.",
        )
        top = logits[order[:k]]
        if not shift:
            reject_each(
                shares,
                (top, "These are the logits, not probabilities.", "Where is the softmax?"),
                (np.exp(top), "This is not divided by the sum.", "What do all six sum to?"),
                (top / logits.sum(), "No exponential.", "Logits can be below 0; e^logit not."),
                tolerance=1e-4,
            )
        among = p[order[:k]] / p[order[:k]].sum()
        reject(
            is_close(shares, among, 1e-4),
            f"Your {k} probabilities sum to 1.",
            "The other words have a share too: softmax first, then choose.",
        )
        reject(
            not is_close(shares, p[order[:k]], 1e-4),
            "The words are right, their probabilities are not.",
            "Exponentiate all logits, divide by their sum, then take the largest.",
        )
    return "right: dot products, softmax over all words, the largest first."
