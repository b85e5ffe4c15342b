"""The exercises of the chapter on long texts: the check of each answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import (
    WrongAnswer,
    as_array,
    as_function,
    as_letters,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)

Array: TypeAlias = np.ndarray[Any, Any]
# Of online softmax: the peak (the highest score), Σ exp(score − peak), Σ exp(score − peak) value.
State: TypeAlias = tuple[Array, Array, Array]


def state_of(scores: Array, values: Array) -> State:
    """The state (T,), (T,), (T, d_v) of scores (T, S) and values (S, d_v)."""
    peak = scores.max(axis=1)  # (T,)
    weights = np.exp(scores - peak[:, None])  # (T, S)
    return peak, weights.sum(axis=1), weights @ values


def output(scores: Array, values: Array) -> float:
    """Softmax over all keys at once: scores (S,), values (S,)."""
    _, total, mix = state_of(scores[None], values[:, None])
    return float(mix[0, 0] / total[0])


def tiled_output(scores: Array, values: Array, rescale: bool) -> float:
    """The same in tiles of two keys; wrong where a higher peak shrinks no earlier sum."""
    peak, total, mix = -np.inf, 0.0, 0.0
    for start in range(0, len(scores), 2):
        tile = slice(start, start + 2)
        higher = max(peak, float(scores[tile].max()))
        shrink = float(np.exp(peak - higher)) if rescale else 1.0
        weights = np.exp(scores[tile] - higher)
        total = total * shrink + float(weights.sum())
        mix = mix * shrink + float(weights @ values[tile])
        peak = higher
    return mix / total


def read_state(answer: object, like: State) -> State:
    """The reader's state, of the shapes of another one, or `WrongAnswer`."""
    parts = list(answer) if isinstance(answer, list | tuple) else []
    reject(
        len(parts) != 3,
        "Three things were asked for: peak, total and mix.",
        "End in return peak, total, mix.",
    )
    peak, total, mix = (
        as_array(part, shape=x.shape).astype(float) for part, x in zip(parts, like, strict=True)
    )
    return peak, total, mix


VALUES = np.array([4.0, 12, 6, 8, 2, 10])  # of the six keys of efficient-3, one number each
FAR = 2.0  # how wrong the second output of efficient-3 has to be


def _compare(merge: Callable[..., Any], a: State, b: State, whole: State, factor: float) -> None:
    peak, total, mix = read_state(merge(a, b), whole)
    reject(
        factor > 1 and not np.isfinite(np.concatenate([peak, total, mix.ravel()])).all(),
        "Scores in the thousands give infinity or NaN.",
        "Only exponentials of differences that are at most 0 are safe.",
    )
    reject(
        not is_close(peak, whole[0], 1e-9),
        "The peak is wrong.",
        "It is the higher of the two, for each query by itself.",
    )
    reject_each(
        total,
        (
            a[1] + b[1],
            "The totals were added as they are.",
            "Each belongs to a peak of its own. Bring both to the common one first.",
        ),
        (
            a[1] + b[1] * np.exp(b[0] - whole[0]),
            "Only the second part was rescaled.",
            "The first part's peak may be the lower one.",
        ),
        (
            a[1] * np.exp(a[0] - whole[0]) + b[1],
            "Only the first part was rescaled.",
            "The second part's peak may be the lower one.",
        ),
    )
    reject(not is_close(total, whole[1], 1e-9), "The total is wrong.", "Try it with one query.")
    if is_close(mix, whole[2], 1e-9):
        return
    reject(
        is_close(mix, whole[2] / whole[1][:, None], 1e-9),
        "The mix was divided by the total.",
        "Return a state, so that a third part can be merged too.",
    )
    raise WrongAnswer(
        "The mix is wrong.",
        "It shrinks by the same factors as the total: (T,) becomes (T, 1) beside (T, d_v).",
    )


@exercise("efficient-1")
def third_tile(answer: object) -> str:
    """Total, mix and output after a third tile; the exponential of the peak doubles, 8 to 16."""
    numbers = as_array(answer, shape=(3,))
    reject_each(
        numbers,
        (
            [3.5, 19, 19 / 3.5],
            "The earlier sums were not rescaled.",
            "The peak has moved. By what factor do all earlier terms shrink?",
        ),
        (
            [2.5, 19, 7.6],
            "The total was rescaled, the mix was not.",
            "Both sums are made of the same exponentials.",
        ),
        (
            [3.5, 12, 12 / 3.5],
            "The mix was rescaled, the total was not.",
            "With all values equal to 1, mix and total must stay equal.",
        ),
        (
            [5.5, 33, 6],
            "The earlier sums grew.",
            "A higher peak makes exp(score − peak) smaller, not larger.",
        ),
        (
            [5, 24, 4.8],
            "The output is right, but the sums still belong to the peak ln 8.",
            "Divide every exponential by that of the highest score so far.",
        ),
        (
            [40, 192, 4.8],
            "The output is right, but nothing was divided by the exponential of the peak.",
            "Each weight is exp(score − peak). What is it for the highest score?",
        ),
        (
            [1.5, 5, 10 / 3],
            "These are the sums of the third tile alone.",
            "What happens to what was kept after the second tile?",
        ),
        tolerance=5e-3,
    )
    reject(
        not is_close(numbers, [2.5, 12, 4.8], 5e-3),
        "Not these numbers.",
        "First the new peak, then the factor for the old sums, then the weights of the two keys.",
    )
    return "right. All six keys at once, with exponentials that sum to 40, give 4.8 too."


@exercise("efficient-2")
def evidence(answer: object) -> str:
    """The observations that prove a bug in blockwise attention: B, D and E."""
    reject_choice(
        as_letters(answer, "ABCDEF"),
        "BDE",
        "Ask of each: can code that computes the formula show this too, with rounding?",
        (
            "AB",
            "You took every difference from the plain way for a bug, and looked at nothing else.",
            "Which differences does rounding make? What does the formula say of keys and totals?",
        ),
    )
    return "right: B, D and E contradict the formula. A, C and F do not."


@exercise("efficient-3")
def hidden_bug(answer: object) -> str:
    """Two rows of six scores: one hides that the sums are not rescaled, the other shows it."""
    rows = as_array(answer, shape=(2, 6)).astype(float)
    reject(not np.isfinite(rows).all(), "A score is infinite or NaN.", "Give finite numbers.")
    reject(
        any(len(set(row)) < 6 for row in rows.tolist()),
        "Two scores of a row are equal.",
        "All six have to differ, or the task would be too easy.",
    )
    gaps = [abs(tiled_output(row, VALUES, False) - output(row, VALUES)) for row in rows]
    reject(
        gaps[0] > 1e-9 and gaps[1] < 1e-9,
        "The two rows are exchanged.",
        "The first is the one for which the wrong code is right.",
    )
    reject(
        gaps[0] > 1e-9,
        "With the first row the wrong code gives a wrong output.",
        "When does the rescaling multiply by 1?",
    )
    reject(
        gaps[1] < FAR,
        "With the second row the wrong output is still too near.",
        "Early tiles get too much weight. Which of their values are far from the right output?",
    )
    return "right. A test whose first tile holds the highest score cannot find this bug."


@exercise("efficient-4")
def merge_states(answer: object) -> str:
    """`merge(a, b)` joins the states of two sets of keys: (peak, total, mix) each."""
    merge = as_function(answer)
    rng = np.random.default_rng(0)
    for factor in (1.0, 1000.0):
        scores, values = factor * rng.normal(size=(3, 7)), rng.normal(size=(7, 2))
        for cut in (2, 5):
            parts = (slice(0, cut), slice(cut, 7))
            a, b = (state_of(scores[:, part], values[part]) for part in parts)
            _compare(merge, a, b, state_of(scores, values), factor)
    empty: State = (np.full(3, -np.inf), np.zeros(3), np.zeros((3, 2)))
    full = state_of(rng.normal(size=(3, 4)), rng.normal(size=(4, 2)))
    for a, b in ((full, empty), (empty, full)):
        got = read_state(merge(a, b), full)
        reject(
            not all(is_close(x, y, 1e-9) for x, y in zip(got, full, strict=True)),
            "A part without keys changes the result.",
            "Its peak is −∞ and its sums are 0. What is exp(−∞ − peak)?",
        )
    low = state_of(rng.normal(size=(3, 4)) - 1000, rng.normal(size=(4, 2)))
    for third in (full, low):
        got = read_state(merge(merge(empty, empty), third), third)
        reject(
            not all(is_close(x, y, 1e-9) for x, y in zip(got, third, strict=True)),
            "Two parts without keys, then one with keys: the result is wrong.",
            "What is −∞ − (−∞)? Both sums are 0 there: subtract any finite peak, but return −∞.",
        )
    part: State = (full[0].copy(), full[1].copy(), full[2].copy())
    for array, nothing in zip(part, empty, strict=True):
        array[0] = nothing[0]  # the first query may attend to no key
    _, total, mix = read_state(merge(part, part), part)
    reject(
        not (is_close(total, 2 * part[1], 1e-9) and is_close(mix, 2 * part[2], 1e-9)),
        "One query without keys in both parts: its sums are not 0.",
        "Ask of each query by itself whether its peak is −∞.",
    )
    return "right: ring attention joins the parts of a text on several devices in this way."
