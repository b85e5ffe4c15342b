"""The exercises on positions that stand behind the core: the check of each answer."""

from __future__ import annotations

import math

import numpy as np

from qkv.exercises.checks import as_array, as_function, exercise, is_close, reject, reject_each
from qkv.exercises.positional_helpers import TOLERANCE, waves


@exercise("positional-5")
def rotary_score(answer: object) -> str:
    """(2, 0) at 5 and (0, 3) at 4, 30° a position: 3, and -3 with their places swapped."""
    scores = as_array(answer)
    reject(
        scores.shape != (2,),
        f"Two numbers were asked for; this has shape {scores.shape}.",
        "One score for the places 5 and 4, one for the places 4 and 5.",
    )
    small, large = 6 * math.cos(math.radians(60)), 6 * math.sin(math.radians(60))
    reject_each(
        scores,
        ([0, 0], "That is the score without rotation.", "By how much more was the query turned?"),
        (
            [-small, small],
            "Each of the two has the sign of the other.",
            "Both turn counter-clockwise. Which of the two vectors is turned further?",
        ),
        (
            [small, small],
            "Swapped places give another score.",
            "The key is 90° ahead of the query before any rotation. Draw both cases.",
        ),
        (
            [large, -large],
            "That is the sine of the right angle.",
            "The dot product of two vectors has the cosine of the angle between them.",
        ),
        (
            [6 * math.cos(60), 6 * math.cos(120)],
            "The cosine was taken of 60 and 120 radians.",
            "The angles are in degrees; math.cos takes radians.",
        ),
        ([0.5, -0.5], "The lengths are missing.", "A dot product is length · length · cosine."),
        tolerance=TOLERANCE,
    )
    reject(
        not is_close(scores, [3.0, -3.0], TOLERANCE),
        "Not these numbers.",
        "Lengths 2 and 3. Write down the angle of each turned vector; the key begins at 90°.",
    )
    return "right: the angle between them is 60°, and 120° when the places are swapped."


@exercise("positional-6")
def shift_by_k(answer: object) -> str:
    """`f(k, d_model)` is the (d, d) matrix with PE_(p + k) = M PE_p for every p."""
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
            "It turns the wrong way as M · PE_p; it is right as PE_p · M.",
            "PE_p is a column here. What is the transpose of a rotation?",
        )
        reject(
            is_close(got[:2, :2] @ rows[5, :2], rows[5 + k, :2], 1e-6),
            "The first hand is right, another one is not.",
            "Each pair of columns has its own speed. Which block belongs to pair i?",
        )
        reject(
            True,
            f"M · PE_5 is not PE_{5 + k} for d_model = {d_model}.",
            "Begin with d_model = 2 and the block of the core; sine stands before cosine.",
        )
    return "right: one block of two by two for each hand, and p stands nowhere in it."
