"""The exercises of the chapter on masks that stand behind its core: the check of each answer."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import as_function, exercise, is_close, reject, reject_each
from qkv.exercises.masks_helpers import TOLERANCE, as_row, as_sets


@exercise("masks-6")
def visible_keys(answer: object) -> str:
    """Keys allowed to `je`: in `<PAD> <sos> je suis étudiant`, and in `I am a student <PAD>`."""
    past, source = as_sets(
        answer, "First where `je` looks in its own sentence, then where it looks in the source."
    )
    reject(
        past == {2, 3},
        "The first list looks like positions counted from 1.",
        "Python counts from 0: <PAD> stands at position 0.",
    )
    reject(3 in past, "Position 3 comes later.", "Go along the row: where does the future start?")
    reject(
        0 in past,
        "Position 0 holds <PAD>.",
        "A key must be allowed by both masks, not by one of them.",
    )
    reject(
        past == {1},
        "`je` does not see itself here.",
        "A word is known where it is read; the word after it is blocked.",
    )
    reject(
        past == {2},
        "<sos> is missing.",
        "<sos> is an ordinary token with a vector of its own; only <PAD> is padding.",
    )
    reject(past != {1, 2}, "Not the first.", "Ask two questions of each position: real? not later?")
    reject(
        source == {0, 1, 2},
        "The second list stops where the future would begin.",
        "When was the source read: while `je` is being written, or before the first word?",
    )
    reject(
        source == {1, 2, 3, 4},
        "That is the target's padding, laid over the source.",
        "A padding mask blocks keys. Whose keys are these, and where is their padding?",
    )
    reject(4 in source, "Position 4 of the source is padding.", "Which token stands there?")
    reject(source != {0, 1, 2, 3}, "Not the second.", "In cross-attention, is any word too late?")
    return "right: its own past, and the whole source. No key is padding."


@exercise("masks-7")
def added_twice(answer: object) -> str:
    """Row 0 of `<PAD> <PAD> <sos> je`, two masks added as -1e9; exponentials 1, 3, 4, 8."""
    row = as_row(answer)
    reject(
        bool(np.isnan(row.astype(float)).any()),
        "−∞ would end in NaN, but −1e9 is a finite number.",
        "Softmax subtracts the row's largest score first. What is left after that?",
    )
    zeros = "Zeros are this book's function's answer; here two masks are added as numbers."
    same = "So it would be if every key had been pushed down equally far."
    uniform = "This would be uniform, as if the fill had swallowed the scores."
    reject_each(
        row,
        (np.zeros(4), zeros, "Whatever finite numbers enter softmax, what does a row sum to?"),
        (np.full(4, 0.25), uniform, "How far apart do neighbouring float64 numbers lie near 1e9?"),
        (
            [1 / 3, 0, 1 / 3, 1 / 3],
            "This is float32's answer, where −1e9 swallows the scores.",
            "float64 keeps some sixteen digits. Is a score still seen beside 1e9?",
        ),
        (np.array([1, 3, 4, 8]) / 16, same, "Write down what is added to each of the four scores."),
        tolerance=TOLERANCE,
    )
    reject(
        not is_close(row, np.array([1, 0, 4, 8]) / 13, TOLERANCE),
        "Not these weights.",
        "Add the largest fill back to every score: what do the four read then?",
    )
    return "right: every key was blocked, and it looks mostly at later words."


@exercise("masks-8")
def key_padding_mask(answer: object) -> str:
    """`f(ids, pad_id)` gives what `nn.MultiheadAttention` wants as key_padding_mask."""
    function = as_function(answer)
    ids = np.array([[4, 1, 6, 0, 0], [7, 4, 5, 2, 3], [1, 7, 7, 7, 7]])
    for pad_id in (0, 7):
        blocked = ids == pad_id
        got = np.asarray(function(ids, pad_id))
        reject(
            got.shape == (3, 1, 1, 5),
            "The shape is (B, 1, 1, S), our own functions' shape.",
            "`nn.MultiheadAttention` adds the axes for heads and queries by itself.",
        )
        reject(
            got.shape != blocked.shape,
            f"For ids of shape (3, 5) the shape is {got.shape}.",
            "One answer for each key of each sentence, and no axis for queries.",
        )
        reject(
            got.dtype.kind == "f",
            f"The entries are {got.dtype}, not truth values.",
            "A float mask is added to the scores. What does adding 1 to a score block?",
        )
        reject(
            got.dtype != np.bool_,
            f"The entries are {got.dtype}, not truth values.",
            "A comparison of arrays gives truth values by itself. What turned them into numbers?",
        )
        reject(
            np.array_equal(got, ~blocked),
            "True and False are swapped.",
            "In this class, True marks the keys that must get no weight.",
        )
        reject(
            pad_id == 7 and np.array_equal(got, ids == 0),
            "It works for pad_id = 0 alone.",
            "Does your function use its second argument?",
        )
        reject(
            not np.array_equal(got, blocked),
            "Some keys are wrong.",
            "Compare every id with pad_id; the order of the words plays no part.",
        )
    return "right: (B, S), True = blocked."


@exercise("masks-9")
def packed_documents_mask(answer: object) -> str:
    """`f(document)` is the (T, T) mask of several documents packed into one row."""
    function = as_function(answer)
    for numbers in ([0, 0, 0, 1, 1, 2], [5, 5, 2, 2, 2, 9, 9]):
        document = np.array(numbers)
        same = document[:, None] == document[None, :]
        earlier = np.tril(np.ones(same.shape, bool))
        got = np.asarray(function(document))
        reject(
            got.shape != same.shape,
            f"For {len(document)} tokens the shape is {got.shape}.",
            "Rows are queries and columns are keys: (T, T).",
        )
        kind = f"The entries are {got.dtype}."
        reject(got.dtype != np.bool_, kind, "Masks in this book are boolean.")
        reject_each(
            got,
            (~(same & earlier), "True and False are swapped.", "Here True = may attend."),
            (
                same,
                "Inside a document, words see the words after them.",
                "One condition is there. Which property did the triangle bring?",
            ),
            (
                earlier,
                "The second document still reads the first.",
                "Compare the document number of the query with that of the key.",
            ),
            (
                same | earlier,
                "Too much is allowed: the two conditions were joined with `or`.",
                "A pair of words has to pass every condition.",
            ),
            (
                same & earlier.T,
                "The triangle looks forwards.",
                "Which of the two indices, query or key, must be the larger one?",
            ),
            (
                same & np.tril(earlier, -1),
                "No token sees itself: too strict.",
                "A token has been read by the time it asks. Which comparison leaves out equality?",
            ),
        )
        reject(
            not np.array_equal(got, same & earlier),
            "Some pairs are wrong.",
            "Draw the six tokens 0 0 0 1 1 2 on paper and mark what each row is allowed.",
        )
    return "right: small triangles along the diagonal."
