"""Exercises behind the core of the chapter on embeddings: evidence and gradient."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import as_function, as_letters, exercise, is_close, reject, reject_each


@exercise("embedding-5")
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


@exercise("embedding-6")
def table_gradient(answer: object) -> str:
    """`f(ids, dout, V)` adds the gradient of each position to the row that was looked up."""
    function = as_function(answer)
    ids = np.array([[3, 0], [3, 3]])  # (B, T)
    flat = ids.ravel()
    for dtype in (np.float64, np.float32):
        rows = np.array([[1.5, 2.25], [4.5, 8.75], [16.5, 32.75], [64.25, 128.75]], dtype)
        expected = np.zeros((5, 2))
        np.add.at(expected, flat, rows)
        last, first = np.zeros((5, 2)), np.zeros((5, 2))
        last[[3, 0]], first[[3, 0]] = rows[[3, 1]], rows[[0, 1]]
        got = np.asarray(function(ids.copy(), rows.reshape(2, 2, 2).copy(), 5))
        reject(
            got.shape != (5, 2),
            f"For 5 tokens and d_model = 2 the shape is {got.shape}.",
            "A gradient has the shape of what it is the gradient of.",
        )
        mean = expected / np.array([1, 1, 1, 3, 1])[:, None]
        reject_each(
            got,
            (last, "Only the last of the three equal ids counts.", "What does += do with a list?"),
            (first, "Only the first of the three equal ids counts.", "Which positions are left?"),
            (
                mean,
                "The gradients of equal ids are averaged.",
                "One row moves; three outputs move.",
            ),
            (np.zeros((5, 2)), "No gradient arrives.", "Does the loop change the result?"),
        )
        reject(
            is_close(got, np.trunc(got)),
            "Your gradients are whole numbers; these were not.",
            "Which type has the array that you begin with?",
        )
        reject(
            not is_close(got, expected),
            "Some rows are wrong.",
            "Write down which positions row 3 went to, and what each of them brings back.",
        )
    return "right: a row collects from every position at which it was used."
