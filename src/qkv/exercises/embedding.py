"""The exercises of the chapter on embeddings: the check of each answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from qkv.exercises.checks import (
    as_array,
    as_function,
    exercise,
    is_close,
    reject,
    reject_each,
)
from qkv.exercises.embedding_further import saved_by_sharing, table_gradient
from qkv.exercises.embedding_helpers import as_merges, as_word_and_probability
from qkv.exercises.masks_helpers import as_letters

Array = np.ndarray[Any, Any]

__all__ = [
    "evidence",
    "first_merges",
    "logits_by_hand",
    "next_word",
    "saved_by_sharing",
    "table_gradient",
]


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
    reject(
        not is_close(logits, right, 5e-3),
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
        "Which of the equal pairs begins with the token that entered the vocabulary first?",
    )
    reject(
        first == ("▁", "n"),
        "▁ + n is as frequent as two other pairs.",
        "In which order do the single characters enter the vocabulary? ▁ stands behind z.",
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
        "▁ entered the vocabulary after all letters.",
    )
    reject(
        second != ("n", "ew"),
        "The second merge is another.",
        "After the first merge, which token stands before the new one?",
    )
    return "right: count again after every merge."


@exercise("embedding-3")
def evidence(answer: object) -> str:
    """What proves that the merges were learned from the test text as well: B and D."""
    letters = as_letters(answer, "ABCD")
    reject(
        "A" in letters,
        "A proves nothing.",
        "Which words does BPE with all characters of the training text leave unknown?",
    )
    reject(
        "C" in letters,
        "C proves nothing.",
        "Could a test text of short and common words do that by itself?",
    )
    reject(
        "B" not in letters,
        "One is missing.",
        "Where can a merged piece come from, if no training word contains it?",
    )
    reject(
        "D" not in letters,
        "Another is missing.",
        "Nothing is random in BPE. What makes two runs differ?",
    )
    return "right: A and C fit an honest tokenizer too."


@exercise("embedding-4")
def next_word(answer: object) -> str:
    """`f(x, table, vocabulary)` gives the most likely word and its probability."""
    function = as_function(answer)
    vocabulary = ["up", "left", "down", "right", "here", "there"]
    rng = np.random.default_rng(3)
    for dtype in (np.float64, np.float32, np.float64):
        table: Array = rng.normal(size=(6, 4)).astype(dtype)
        x: Array = rng.normal(size=4).astype(dtype)
        logits = (table @ x).astype(float)
        p = np.exp(logits) / np.exp(logits).sum()
        word, probability = as_word_and_probability(function(x, table, vocabulary), vocabulary)
        reject(
            word == vocabulary[int(np.argmin(p))],
            "This is the least likely word.",
            "The largest logit has the largest probability.",
        )
        reject(
            word != vocabulary[int(np.argmax(p))],
            "This is not the most likely word.",
            "Take the dot product of x with each row; the largest one decides.",
        )
        reject_each(
            probability,
            (logits.max(), "This is the logit, not its probability.", "Where is the softmax?"),
            (np.exp(logits.max()), "This is not divided by the sum.", "What do all six sum to?"),
            (logits.max() / logits.sum(), "No exponential.", "Logits can be below 0; e^logit not."),
            tolerance=1e-4,
        )
        reject(
            not is_close(probability, p.max(), 1e-4),
            "The word is right, its probability is not.",
            "Exponentiate all logits, divide by their sum, take the largest.",
        )
    return "right: dot products, softmax, the largest."
