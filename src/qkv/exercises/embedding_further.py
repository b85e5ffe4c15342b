"""Exercises behind the core of the chapter on embeddings: a table's gradient, shared tables."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import as_function, as_number, exercise, is_close, reject, reject_each


@exercise("embedding-5")
def table_gradient(answer: object) -> str:
    """`f(ids, dout, V)` adds the gradient of each position to the row that was looked up."""
    function = as_function(answer)
    ids = np.array([3, 0, 3, 3])
    for dtype in (np.float64, np.float32):
        dout = np.array([[1, 2], [4, 8], [16, 32], [64, 128]], dtype)
        expected = np.zeros((5, 2))
        np.add.at(expected, ids, dout)
        last, first = np.zeros((5, 2)), np.zeros((5, 2))
        last[[3, 0]], first[[3, 0]] = dout[[3, 1]], dout[[0, 1]]
        got = np.asarray(function(ids.copy(), dout.copy(), 5))
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
            not is_close(got, expected),
            "Some rows are wrong.",
            "Write down which positions row 3 went to, and what each of them brings back.",
        )
    return "right: a row collects from every position at which it was used."


@exercise("embedding-6")
def saved_by_sharing(answer: object) -> str:
    """Three tables of 37,000 × 512 become one: 37,888,000 numbers are saved."""
    number = as_number(answer)
    table = 37_000 * 512
    reject_each(
        number,
        (table, "That is one table.", "How many tables are there without sharing, and with it?"),
        (3 * table, "That is what they have without sharing.", "One table is still needed."),
        (2 * 37_000, "That counts tokens.", "How many numbers does a token have?"),
        (2 * table / 1e6, "The unit is missing.", "Give the number itself, not millions."),
        tolerance=1e-9,
    )
    reject(
        not is_close(number, 2 * table, 1e-9),
        "Not this number.",
        "Begin with one table: how many rows, how many columns?",
    )
    return "right: more than half as many again as the model has (63 million, chapter 10)."
