"""The exercises on positions that stand behind the core: the check of each answer."""

from __future__ import annotations

import math

import numpy as np

from qkv.exercises.checks import as_function, as_number, exercise, is_close, reject
from qkv.exercises.positional_helpers import TOLERANCE, waves


@exercise("positional-5")
def rotary_score(answer: object) -> str:
    """(2, 0) at position 5 and (3, 0) at position 3, 30° a position: the rotary score, 3."""
    score = as_number(answer)
    for wrong, mistake, hint in (
        (6, "That is the score without rotation.", "By how much more was the query turned?"),
        (-3, "The two angles were added.", "Both are turned the same way. What is left of it?"),
        (
            6 * math.cos(math.radians(150)),
            "Only the query was turned.",
            "The key stands at position 3: it is turned too.",
        ),
        (
            6 * math.cos(60),
            "The cosine was taken of 60 radians.",
            "The angle is in degrees; math.cos takes radians.",
        ),
        (
            6 * math.sin(math.radians(60)),
            "That is the sine of the right angle.",
            "The dot product of two vectors has the cosine of the angle between them.",
        ),
        (0.5, "The lengths are missing.", "The dot product is length · length · cosine."),
    ):
        reject(abs(score - wrong) < TOLERANCE, mistake, hint)
    reject(
        not is_close(score, 3.0, TOLERANCE),
        "Not this number.",
        "Lengths 2 and 3. Find the angle between the two turned vectors.",
    )
    return "right: the angle between them is 2 · 30° = 60°, wherever the two stand."


@exercise("positional-6")
def shift_by_k(answer: object) -> str:
    """`f(k, d_model)` is the (d, d) matrix with PE(p + k) = M PE(p) for every p."""
    function = as_function(answer)
    for k, d_model in ((1, 2), (3, 6), (-2, 8), (0, 4)):
        got = np.asarray(function(k, d_model))
        reject(
            got.shape != (d_model, d_model),
            f"For d_model = {d_model} the shape is {got.shape}.",
            "It takes a vector of d_model numbers to one of d_model numbers.",
        )
        rows = waves(40, d_model)
        before, after = rows[5:30], rows[5 + k : 30 + k]
        if is_close(before @ got.T, after, 1e-6):
            continue
        reject(
            is_close(before @ got, after, 1e-6),
            "It turns the wrong way as M · PE(p); it is right as PE(p) · M.",
            "PE(p) is a column here. What is the transpose of a rotation?",
        )
        reject(
            is_close(got[:2, :2] @ rows[5, :2], rows[5 + k, :2], 1e-6),
            "The first hand is right, another one is not.",
            "Each pair of columns has its own speed. Which block belongs to pair i?",
        )
        reject(
            True,
            f"M · PE(5) is not PE({5 + k}) for d_model = {d_model}.",
            "Begin with d_model = 2 and the block of the core; sine stands before cosine.",
        )
    return "right: one block of two by two for each hand, and p stands nowhere in it."
