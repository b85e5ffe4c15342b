"""The exercises of the chapter on positions: the check of each answer."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import as_array, as_function, exercise, is_close, reject, reject_each
from qkv.exercises.masks_helpers import as_letters
from qkv.exercises.positional_further import rotary_score, shift_by_k
from qkv.exercises.positional_helpers import TOLERANCE, Array, waves
from qkv.exercises.positional_order import order_blind

__all__ = ["build_waves", "evidence", "order_blind", "rotary_score", "row_by_hand", "shift_by_k"]


@exercise("positional-1")
def row_by_hand(answer: object) -> str:
    """PE(5) for d_model = 4: sin 5, cos 5, sin 0.05, cos 0.05."""
    row = as_array(answer)
    reject(
        row.shape != (4,),
        f"Four numbers were asked for; this has shape {row.shape}.",
        "d_model = 4 has two hands, and each hand has two numbers.",
    )
    right = waves(6, 4)[5]
    degrees = np.radians(5)
    reject_each(
        row,
        (
            [np.sin(degrees), np.cos(degrees), np.sin(degrees / 100), np.cos(degrees / 100)],
            "The angles were taken in degrees.",
            "The formula has radians: one position turns the first hand by 1 radian, about 57°.",
        ),
        (
            [np.sin(5), np.cos(0.5), np.sin(0.05), np.cos(0.005)],
            "Each column has an angle of its own.",
            "Sine and cosine of a pair share one angle. Which number counts the pairs?",
        ),
        (
            [np.sin(5), np.cos(5), np.sin(5e-4), np.cos(5e-4)],
            "The second hand turns too slowly.",
            "For the second pair, i is 1. What is 2i / d_model then?",
        ),
        (
            right[[0, 2, 1, 3]],
            "The two sines stand before the two cosines.",
            "Sine and cosine of one hand stand side by side here.",
        ),
        (
            right[[1, 0, 3, 2]],
            "The cosines stand in the even columns.",
            "Columns are counted from 0. Look at the row of position 0: which numbers are 0?",
        ),
        (waves(5, 4)[4], "That is position 4.", "Positions count from 0: here p is 5 itself."),
        (waves(7, 4)[6], "That is position 6.", "p is 5. Nothing is added to it."),
        tolerance=TOLERANCE,
    )
    reject(
        not is_close(row, right, TOLERANCE),
        "Not these numbers.",
        "Write down the two angles first. The divisors are 1 and 100.",
    )
    return "right: two angles, 5 and 0.05, and of each the sine and the cosine."


@exercise("positional-2")
def evidence(answer: object) -> str:
    """The observations that prove that a model without a mask uses positions: B and C."""
    letters = as_letters(answer, "ABCDE")
    reject(
        "A" in letters,
        "A is what attention without positions does.",
        "Look at the first table of the chapter: which outputs moved with their words?",
    )
    reject(
        "D" in letters,
        "D holds with and without positions.",
        "Another word has another vector. Does bites read it, even without positions?",
    )
    reject(
        "E" in letters,
        "E holds without positions too.",
        "If outputs only change places, what happens to their average?",
    )
    reject(
        "B" not in letters,
        "One is missing.",
        "The word bites has not moved, and the words around it are the same. What changed?",
    )
    reject(
        "C" not in letters,
        "Another is missing.",
        "Two tokens with equal vectors: what could make their outputs differ?",
    )
    return "right: in B and C the words are the same, and only their places differ."


@exercise("positional-3")
def build_waves(answer: object) -> str:
    """`f(n, d_model)` is the sinusoidal encoding (n, d_model), d_model even."""
    function = as_function(answer)
    for n, d_model in ((7, 6), (3, 8), (1, 2), (60, 4)):
        got = np.asarray(function(n, d_model))
        reject(
            got.shape != (n, d_model),
            f"For n = {n} and d_model = {d_model} the shape is {got.shape}.",
            "One row for each position, one column for each of d_model numbers.",
        )
        right = waves(n, d_model)
        if is_close(got, right, 1e-4):
            continue
        pairs = np.arange(0, d_model, 2)
        reject_each(
            got,
            *_wrong_waves(n, d_model, pairs, right),
            tolerance=1e-4,
        )
        reject(
            True,
            f"Some numbers are off for n = {n}, d_model = {d_model}.",
            "Print your first two rows. Row 0 is 0, 1, 0, 1, …; row 1 begins with 0.84, 0.54.",
        )
    return "right: one angle for each pair, sine in the even column, cosine in the odd one."


def _wrong_waves(
    n: int, d_model: int, pairs: Array, right: Array
) -> tuple[tuple[object, str, str], ...]:
    position = np.arange(n)[:, None]
    column = np.arange(d_model)
    by_column = position / 10000.0 ** (column / d_model)
    halves = np.concatenate([right[:, 0::2], right[:, 1::2]], axis=1)
    swapped = np.stack([right[:, 1::2], right[:, 0::2]], -1).reshape(n, d_model)
    return (
        (
            np.where(column % 2 == 0, np.sin(by_column), np.cos(by_column)),
            "Sine and cosine of one pair have different angles.",
            "The exponent is 2i / d_model, and i is the same for both columns of a pair.",
        ),
        (
            waves(n, d_model, pairs * 2),
            "The hands turn too slowly.",
            "Columns 0, 2, 4 are already 2i. Is your exponent doubled once more?",
        ),
        (
            waves(n, d_model, pairs / 2),
            "The hands turn too fast.",
            "The exponent is 2i / d_model. Is the 2 there?",
        ),
        (
            halves,
            "All sines stand before all cosines.",
            "out[:, 0::2] is every second column. Which slices does the formula name?",
        ),
        (swapped, "The cosines stand in the even columns.", "Row 0 begins with sin 0. What is it?"),
        (
            waves(n + 1, d_model)[1:],
            "The positions count from 1.",
            "The first word stands at position 0.",
        ),
    )
