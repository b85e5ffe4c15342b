"""The exercises of the chapter on long texts: the check of each answer."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import (
    WrongAnswer,
    as_array,
    as_function,
    as_number,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)
from qkv.exercises.choices import Letters
from qkv.language import gettext

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


def _copy(state: Any) -> Any:
    """The same state in arrays of its own."""
    return tuple(np.array(part) for part in state) if isinstance(state, list | tuple) else state


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
    near = 1e-5 * max(1, factor / 10)  # a merge in float32 is right too
    reject(
        factor > 1 and not np.isfinite(np.concatenate([peak, total, mix.ravel()])).all(),
        "Scores in the thousands give infinity or NaN.",
        "Only exponentials of differences that are at most 0 are safe.",
    )
    reject(
        not is_close(peak, whole[0], near),
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
    reject(not is_close(total, whole[1], near), "The total is wrong.", "Try it with one query.")
    if is_close(mix, whole[2], near):
        return
    reject(
        is_close(mix, whole[2] / whole[1][:, None], near),
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
            [4.25, 24, 24 / 4.25],
            "The earlier sums were not rescaled.",
            "The peak has moved. By what factor do all earlier terms shrink?",
        ),
        (
            [3, 24, 8],
            "The total was rescaled, the mix was not.",
            "Both sums are made of the same exponentials.",
        ),
        (
            [4.25, 15, 15 / 4.25],
            "The mix was rescaled, the total was not.",
            "With all values equal to 1, mix and total must stay equal.",
        ),
        (
            [6.75, 42, 42 / 6.75],
            "The earlier sums grew.",
            "A higher peak makes exp(score − peak) smaller, not larger.",
        ),
        (
            [6, 30, 5],
            "The output is right, but the sums still belong to the peak ln 8.",
            "Divide every exponential by that of the highest score so far.",
        ),
        (
            [48, 240, 5],
            "The output is right, but nothing was divided by the exponential of the peak.",
            "Each weight is exp(score − peak). What is it for the highest score?",
        ),
        (
            [1.75, 6, 6 / 1.75],
            "These are the sums of the third tile alone.",
            "What happens to what was kept after the second tile?",
        ),
        tolerance=5e-3,
    )
    reject(
        not is_close(numbers, [3, 15, 5], 5e-3),
        "Not these numbers.",
        "First the new peak, then the factor for the old sums, then the weights of the two keys.",
    )
    return "right. All six keys at once, with exponentials that sum to 48, give 5 too."


@exercise("efficient-2", Letters("ABCDEF"))
def evidence(letters: str) -> str:
    """The observations that prove a bug in blockwise attention: B, D and E."""
    reject_choice(
        letters,
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
        bool((np.diff(np.sort(rows)) < 0.1 - 1e-9).any()),
        "Two scores of a row are equal, or nearly.",
        "Any two have to differ by 0.1, or the task would be too easy.",
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
    return gettext(
        "right. A test whose first tile holds the highest score cannot find this bug. "
        "Your second row shows it: wrong by {gap:.1f}."
    ).format(gap=gaps[1])


@exercise("efficient-4")
def merge_states(answer: object) -> str:
    """`merge(a, b)` joins the states of two sets of keys: (peak, total, mix) each."""
    given = as_function(answer)

    def merge(a: State, b: State) -> Any:
        return given(_copy(a), _copy(b))  # a reader's function may write into what it gets

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
            not all(is_close(x, y, 1e-3) for x, y in zip(got, full, strict=True)),
            "A part without keys changes the result.",
            "Its peak is −∞ and its sums are 0. What is exp(−∞ − peak)?",
        )
    low = state_of(rng.normal(size=(3, 4)) - 1000, rng.normal(size=(4, 2)))
    lowest: State = (np.full(3, -(2.0**100)), low[1], low[2])  # no finite guess is below this
    for third in (full, low, lowest):
        got = read_state(merge(merge(empty, empty), third), third)
        reject(
            not all(is_close(x, y, 1e-3) for x, y in zip(got, third, strict=True)),
            "Two parts without keys, then one with keys: the result is wrong.",
            "What is −∞ − (−∞)? Both sums are 0 there: subtract any finite peak, but return −∞.",
        )
    part: State = (full[0].copy(), full[1].copy(), full[2].copy())
    for array, nothing in zip(part, empty, strict=True):
        array[0] = nothing[0]  # the first query may attend to no key
    two = merge(part, part)
    _, total, mix = read_state(two, part)
    reject(
        not (is_close(total, 2 * part[1], 1e-3) and is_close(mix, 2 * part[2], 1e-3)),
        "One query without keys in both parts: its sums are not 0.",
        "Ask of each query by itself whether its peak is −∞.",
    )
    _, total, mix = read_state(merge(two, lowest), part)
    expected = [2 * part[1], 2 * part[2]]
    for array, alone in zip(expected, low[1:], strict=True):
        array[0] = alone[0]  # its only keys are those of the third part
    reject(
        not (is_close(total, expected[0], 1e-3) and is_close(mix, expected[1], 1e-3)),
        "One query without keys in both parts, then a third part with low scores: they are lost.",
        "Which peak did you return for that query? It has seen no score yet.",
    )
    return "right: ring attention joins the parts of a text on several devices in this way."


def causal_output(q: Array, k: Array, v: Array) -> Array:
    """Causal attention of one head, all keys at once: (n, d_k), (n, d_k), (n, d_v) → (n, d_v)."""
    scores = q @ k.T / np.sqrt(q.shape[1])
    scores = np.where(np.tri(len(q), dtype=bool), scores, -np.inf)
    _, total, mix = state_of(scores, v)
    return np.asarray(mix / total[:, None])


def _bytes_of(attend: Callable[..., Any]) -> int:
    """The most that one call allocates, with 512 queries and keys in tiles of 16."""
    rng = np.random.default_rng(1)
    q, k, v = (rng.normal(size=(512, width)) for width in (4, 4, 3))
    tracemalloc.start()
    attend(q, k, v, 16)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


@exercise("efficient-5")
def repaired_blocks(answer: object) -> str:
    """`causal_tiled(q, k, v, size)`, in which two lines were wrong: the first peak, the mask."""
    attend = as_function(answer)
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(7, 4)), rng.normal(size=(7, 4)), rng.normal(size=(7, 3))

    def gap(q: Array, size: int) -> float:
        with np.errstate(all="ignore"):
            got = as_array(attend(q, k, v, size), shape=(7, 3)).astype(float)
        return float(abs(got - causal_output(q, k, v)).max())

    reject(
        not gap(q, 7) < 1e-6,
        "With all keys in one tile, the output is not that of causal attention.",
        "Change two lines only, and compare with attention under a causal mask.",
    )
    reject(
        not all(gap(q, size) < 1e-6 for size in (1, 2, 3, 5)),
        "With several tiles, the output is not that of causal attention.",
        "Print the mask of the second tile. Which keys does it hold, counted from the first?",
    )
    reject(
        _bytes_of(attend) > 2 * 512**2,
        "All scores were there at once.",
        "Keep the loop over tiles, and change two lines only.",
    )
    k[:, 0] = -1  # the first column of q then moves all scores of a query
    for low in (4000.0, 2.0**100):
        for size in (2, 7):
            reject(
                not gap(q + np.array([low, 0, 0, 0]), size) < 5e-3,  # float32 is right too
                gettext("With scores near −{size:,.0f} for all keys, the output is wrong.").format(
                    size=low / 2
                )
                if low < 1e5
                else "With scores far below zero for all keys, the output is wrong.",
                "A peak is the highest score so far. What is it before any score was read?",
            )
    return "right: neither fault shows with one tile and scores near 0."


@exercise("efficient-6")
def stored_numbers(answer: object) -> str:
    """Tokens of a window, features of linear attention, its output after one more key."""
    numbers = as_array(answer, shape=(3,)).astype(float)
    tokens, features, output = numbers.tolist()
    reject(
        is_close(tokens, 18, 1e-3),
        "Not so many tokens.",
        "Of a token, a window keeps the key and the value.",
    )
    reject(not is_close(tokens, 9, 1e-3), "The first number is wrong.", "Numbers of one token?")
    reject(
        is_close(features, 18, 1e-3) or is_close(features, 9, 1e-3),
        "Not so many features.",
        "For each feature a row of the first sum is kept, and one number of the second.",
    )
    reject(not is_close(features, 16, 1e-3), "The second number is wrong.", "Numbers a feature?")
    for wrong, mistake, hint in (
        (7.5, "This is the output before the fifth key.", "Add its φ, and its φ times its value."),
        (166 / 22, "The new key was added as it is.", "It is φ(k) that is added."),
        (58 / 8, "The query was used as it is.", "Both sums are multiplied by φ(q)."),
        (155 / 25, "The value of the new key is missing.", "The first sum gets 8 times φ(k)."),
        (8, "This is the value of the fifth key.", "All five keys have a weight."),
    ):
        reject(is_close(output, wrong, 2e-3), mistake, hint)
    reject(
        not is_close(output, 7.6, 2e-3),
        "The output is wrong.",
        "φ([2, 0]) = [3, 1]. Add it to one sum, and 8 times it to the other.",
    )
    return "right: 190 / 25 = 7.6. The state is as large as before the fifth key."


@exercise("efficient-7")
def cache_size(answer: object) -> str:
    """MiB of the keys and values of 8,192 tokens: 24 layers, 4 heads of width 64, 2 bytes."""
    size = as_number(answer)
    for wrong, mistake, hint in (
        (768, "All heads of queries were counted.", "Which heads are kept?"),
        (96, "Only keys, or only values.", "Both are kept."),
        (384, "A number took 4 bytes.", "How many bytes has a number in 16 bits?"),
        (8, "That is one layer.", "Each layer has its own."),
        (201.3, "Those are MB of 1,000,000 bytes.", "A MiB has 1,048,576 bytes."),
        (192 * 2**20, "Those are bytes.", "How many of them make a MiB?"),
    ):
        reject(abs(size - wrong) < 0.002 * wrong, mistake, hint)
    reject(abs(size - 192) > 0.5, "Not this number.", "Multiply the six factors, then convert.")
    return "right: 201,326,592 bytes = 192 MiB. With 16 heads of keys and values it would be 768."
