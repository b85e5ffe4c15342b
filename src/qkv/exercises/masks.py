"""The exercises of the chapter on masks: the check of each answer."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import (
    WrongAnswer,
    as_array,
    as_function,
    as_letters,
    exercise,
    is_close,
    reject,
    reject_each,
)
from qkv.exercises.masks_further import (
    added_twice,
    key_padding_mask,
    packed_documents_mask,
    visible_keys,
)
from qkv.exercises.masks_helpers import TOLERANCE, as_row
from qkv.exercises.masks_leaks import leak_detector

__all__ = [
    "added_twice",
    "blind_spot",
    "both_masks",
    "evidence",
    "key_padding_mask",
    "leak_detector",
    "packed_documents_mask",
    "visible_keys",
    "weights_by_hand",
]


@exercise("masks-1")
def weights_by_hand(answer: object) -> str:
    """The second row of a causal map whose exponentials are 2, 6, 3, 5."""
    row = as_row(answer)
    reject_each(
        row,
        (
            [0.125, 0.375, 0, 0],
            "These four do not sum to 1.",
            "The future was cut after the division. What is still in the denominator?",
        ),
        ([0.125, 0.375, 0.1875, 0.3125], "No mask yet.", "Which keys come later than row two?"),
        (
            [0.2, 0.6, 0.1, 0.1],
            "The future scores were set to 0, and they still get weight.",
            "What is e to the power 0? Which score has exponential 0?",
        ),
        ([2 / 11, 6 / 11, 3 / 11, 0], "That is row three.", "The second row sees one key fewer."),
        ([1, 0, 0, 0], "It does not see itself.", "Does the diagonal belong to the triangle?"),
        tolerance=TOLERANCE,
    )
    reject(
        not is_close(row, [0.25, 0.75, 0, 0], TOLERANCE),
        "Not these weights.",
        "Cross out what is blocked first; then divide what is left by its sum.",
    )
    return "right: cross out first, divide afterwards."


@exercise("masks-2")
def both_masks(answer: object) -> str:
    """`f(ids, pad_id)` is the causal mask and the padding mask, joined: (B, 1, S, S)."""
    function = as_function(answer)
    ids = np.array([[0, 0, 4, 7, 6], [7, 4, 5, 2, 3], [1, 6, 7, 7, 7]])
    triangle = np.tri(5, dtype=bool)
    for pad_id in (0, 7):
        words = (ids != pad_id)[:, None, None, :]
        got = np.asarray(function(ids.copy(), pad_id))
        reject(
            got.shape != (3, 1, 5, 5),
            f"For ids of shape (3, 5) the shape is {got.shape}.",
            "Sentences, one axis for the heads, queries, keys. Which axis needs a None?",
        )
        reject(
            got.dtype != np.bool_,
            f"The entries are {got.dtype}, not truth values.",
            "np.tri(5, dtype=bool) and a comparison of ids give truth values.",
        )
        if np.array_equal(got, words & triangle):
            continue
        reject_each(
            got,
            (~(words & triangle), "True and False are swapped.", "True = allowed in this book."),
            (words | triangle, "The masks are joined by `or`.", "How many must allow a key?"),
            (
                words.mT & triangle,
                "The rows of <PAD> are blocked, and words still see <PAD>.",
                "A padding mask blocks keys. On which axis do the keys stand?",
            ),
            (words & triangle.T, "Words see only later words.", "Query i is allowed keys 0 to i."),
            (
                words & np.tri(5, k=-1, dtype=bool),
                "No word sees itself.",
                "A word has been read when its row is computed.",
            ),
            (
                np.broadcast_to(words, got.shape),
                "Words see later words.",
                "One mask is there. Which one brings the triangle?",
            ),
            (
                np.broadcast_to(triangle, got.shape),
                "Words see <PAD>.",
                "One mask is there. Which one is made from the ids?",
            ),
            (
                (ids != 0)[:, None, None, :] & triangle,
                "It works for pad_id = 0 alone.",
                "Does your function use its second argument?",
            ),
        )
        raise WrongAnswer(
            "Some pairs are wrong.",
            "Write down the four rows of [[0, 0, 7, 8]] and compare.",
        )
    return "right. And with <PAD> on the left, its rows are allowed no key."


@exercise("masks-3")
def evidence(answer: object) -> str:
    """The observations that prove a leak: A and E."""
    letters = as_letters(answer, "ABCDE")
    reject(
        "B" in letters,
        "B is what a correct model does.",
        "Output 4 and those after it have read word 4. Which outputs may not move?",
    )
    reject(
        "C" in letters,
        "C does not prove a leak, and it does not exclude one.",
        "Remember the colleague: what else can carry the later word into a row?",
    )
    reject(
        "D" in letters,
        "D is a reason to test, and no proof.",
        "Do you know how low the loss of a correct model can be on that text?",
    )
    reject(
        "A" not in letters,
        "One is missing.",
        "How far does an earlier output move in a correct model: a little, or not at all?",
    )
    reject(
        "E" not in letters,
        "Another is missing.",
        "Three words alone have never met the fourth. What should their outputs be?",
    )
    return "right: an earlier output that moves is a proof. B, C and D fit a correct model too."


@exercise("masks-4")
def blind_spot(answer: object) -> str:
    """A (6, 6) mask that leaks, and that replacing the last word does not find."""
    mask = as_array(answer, shape=(6, 6))
    reject(
        mask.dtype != np.bool_,
        f"The entries are {mask.dtype}.",
        "Masks in this book are boolean: np.tri(6, dtype=bool).",
    )
    later = ~np.tri(6, dtype=bool)
    reject(
        bool((mask.sum(axis=1) == 0).any()),
        "In some row every key is blocked.",
        "Begin with the causal mask, and change one entry of it.",
    )
    reject(
        not mask[later].any(),
        "This mask does not leak.",
        "Allow one key that comes later than its query.",
    )
    reject(
        bool((mask & later)[:, 5].any()),
        "The test finds it: an earlier output moves with the last word.",
        "The test looks at one column only. Which?",
    )
    return "right: a test of one word is blind to all the others. Replace each word in turn."
