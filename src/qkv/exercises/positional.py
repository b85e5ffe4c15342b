"""The exercises of the chapter on positions: the check of each answer."""

from __future__ import annotations

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
from qkv.exercises.positional_further import rotary_score, shift_by_k
from qkv.exercises.positional_helpers import TOLERANCE, Array, waves
from qkv.exercises.positional_order import order_blind

__all__ = ["build_waves", "evidence", "order_blind", "rotary_score", "row_by_hand", "shift_by_k"]


@exercise("positional-1")
def row_by_hand(answer: object) -> str:
    """PE_23 for d_model = 4: sin 23, cos 23, sin 0.23, cos 0.23."""
    row = as_array(answer)
    reject(
        row.shape != (4,),
        f"Four numbers were asked for; this has shape {row.shape}.",
        "d_model = 4 has two hands, and each hand has two numbers.",
    )
    right = waves(24, 4)[23]
    degrees = np.radians(23)
    reject_each(
        row,
        (
            [np.sin(degrees), np.cos(degrees), np.sin(degrees / 100), np.cos(degrees / 100)],
            "The angles were taken in degrees.",
            "The formula has radians: one position turns the first hand by 1 radian, about 57°.",
        ),
        (
            [np.sin(23), np.cos(2.3), np.sin(0.23), np.cos(0.023)],
            "Each column has an angle of its own.",
            "Sine and cosine of a pair share one angle. Which number counts the pairs?",
        ),
        (
            [np.sin(23), np.cos(23), np.sin(23e-4), np.cos(23e-4)],
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
        (waves(23, 4)[22], "That is position 22.", "Positions count from 0: here p is 23 itself."),
        (waves(25, 4)[24], "That is position 24.", "p is 23. Nothing is added to it."),
        tolerance=TOLERANCE,
    )
    reject(
        not is_close(row, right, TOLERANCE),
        "Not these numbers.",
        "Write down the two angles first. The divisors are 1 and 100.",
    )
    return "right: two angles, 23 and 0.23, and of each the sine and the cosine."


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
    """`f(positions, d_model)` is a row of the sinusoidal encoding for each given position."""
    function = as_function(answer)
    for places, d_model in (
        ([0, 1, 2, 3, 4, 5, 6], 6),
        ([0, 1, 2], 8),
        ([59], 2),
        ([7, 0, 7, 300], 4),
        ([20_000, 5], 8),
    ):
        p = np.array(places)
        got = np.asarray(function(p, d_model))
        reject(
            got.shape != (len(p), d_model),
            f"For {len(p)} positions and d_model = {d_model} the shape is {got.shape}.",
            "One row for each given position, one column for each of d_model numbers.",
        )
        right = waves(p, d_model)
        if is_close(got, right, 1e-2 if got.dtype == np.float32 else 1e-4):
            continue
        reject_each(got, *_wrong_waves(p, d_model, right), tolerance=1e-4)
        reject(
            True,
            f"Some numbers are off for positions {places}, d_model = {d_model}.",
            "Position 0 has the row 0, 1, 0, 1, …; the row of position 1 begins with 0.84, 0.54.",
        )
    return "right: one angle for each pair, sine in the even column, cosine in the odd one."


def _wrong_waves(p: Array, d_model: int, right: Array) -> tuple[tuple[object, str, str], ...]:
    position = p[:, None]
    column = np.arange(d_model)
    pairs = np.arange(0, d_model, 2)
    by_column = position / 10000.0 ** (column / d_model)
    halves = np.concatenate([right[:, 0::2], right[:, 1::2]], axis=1)
    swapped = np.stack([right[:, 1::2], right[:, 0::2]], -1).reshape(len(p), d_model)
    return (
        (
            np.where(column % 2 == 0, np.sin(by_column), np.cos(by_column)),
            "Sine and cosine of one pair have different angles.",
            "The exponent is 2i / d_model, and i is the same for both columns of a pair.",
        ),
        (
            waves(p, d_model, pairs * 2),
            "The hands turn too slowly.",
            "Columns 0, 2, 4 are already 2i. Is your exponent doubled once more?",
        ),
        (
            waves(p, d_model, pairs / 2),
            "The hands turn too fast.",
            "The exponent is 2i / d_model. Is the 2 there?",
        ),
        (
            halves,
            "All sines stand before all cosines.",
            "out[:, 0::2] is every second column. Which slices does the formula name?",
        ),
        (swapped, "The cosines stand in the even columns.", "Row 0 begins with sin 0. What is it?"),
        (waves(p + 1, d_model), "The positions count from 1.", "The first word is at position 0."),
        (
            waves(len(p), d_model),
            "These are the rows of positions 0, 1, 2, …",
            "The function is given the positions. What should stand where np.arange(T) stood?",
        ),
    )
