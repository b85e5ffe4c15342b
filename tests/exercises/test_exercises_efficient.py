"""The exercises of "Attention for long texts": each typical mistake meets its own hint."""

from fractions import Fraction

import numpy as np
import pytest

from qkv.exercises.efficient import causal_output, output, tiled_output
from tests.helpers.exercises import ExerciseAnswers


def merge(a, b):
    peak = np.maximum(a[0], b[0])
    safe = np.where(np.isinf(peak), 0, peak)
    left, right = np.exp(a[0] - safe), np.exp(b[0] - safe)
    mix = a[2] * left[:, None] + b[2] * right[:, None]
    return peak, a[1] * left + b[1] * right, mix


def with_(left=True, right=True, mix=True, divide=False, peak=np.maximum):
    def wrong(a, b):
        top = peak(a[0], b[0])
        u = np.exp(a[0] - top) if left else np.ones_like(top)
        w = np.exp(b[0] - top) if right else np.ones_like(top)
        total = a[1] * u + b[1] * w
        mixed = a[2] * u[:, None] + b[2] * w[:, None] if mix else a[2] + b[2]
        return top, total, mixed / total[:, None] if divide else mixed

    return wrong


def by_exponentials(a, b):
    """Right on paper: every sum brought back to peak 0."""
    with np.errstate(all="ignore"):
        total = a[1] * np.exp(a[0]) + b[1] * np.exp(b[0])
        mix = a[2] * np.exp(a[0])[:, None] + b[2] * np.exp(b[0])[:, None]
        peak = np.maximum(a[0], b[0])
        return peak, total / np.exp(peak), mix / np.exp(peak)[:, None]


def one_empty(a, b):
    """Right until both parts are empty: −∞ − (−∞) is NaN."""
    with np.errstate(invalid="ignore"):
        return with_()(a, b)


def not_empty(a, b):
    return merge(a, b) if np.isfinite(a[0] + b[0]).all() else b


RISING, FALLING = [0, 1, 2, 3, 4, 5], [6, 1, 2, 3, 4, 5]


def whole_parts_alone(a, b):
    """Thinks of parts without any key, not of queries without one."""
    if np.isinf(a[0]).all():
        return b
    return a if np.isinf(b[0]).all() else one_empty(a, b)


def peak_of_zero(a, b):
    """Returns the peak that it subtracts."""
    peak, total, mix = merge(a, b)
    return np.where(np.isinf(peak), 0, peak), total, mix


def finite_peaks(a, b):
    """The lowest finite number where no key was seen."""
    return tuple(np.nan_to_num(part) for part in merge(a, b))


def in_place(a, b):
    """Writes its result into what it gets."""
    for array, new in zip(a, merge(a, b), strict=True):
        array[:] = new
    return a


def attend_in_tiles(peak=-np.inf, offset=-1):
    """Causal attention in tiles; `offset` times a tile's first key moves its triangle."""

    def attend(q, k, v, size):
        high, total = np.full((len(q), 1), float(peak)), np.zeros((len(q), 1))
        mix = np.zeros((len(q), v.shape[1]))
        for start in range(0, len(k), size):
            tile = slice(start, start + size)
            scores = q @ k[tile].T / np.sqrt(q.shape[1])
            allowed = np.tri(*scores.shape, offset * start, dtype=bool)
            scores = np.where(allowed | (offset == -99), scores, -np.inf)
            higher = np.maximum(high, scores.max(axis=1, keepdims=True))
            shrink, weights = np.exp(high - higher), np.exp(scores - higher)
            total = total * shrink + weights.sum(axis=1, keepdims=True)
            mix, high = mix * shrink + weights @ v[tile], higher
        return mix / total

    return attend


def clipped(state, lowest):
    """No peak below this one."""
    return np.maximum(state[0], lowest), state[1], state[2]


def in_float32(call):
    """The same call, all arrays in float32."""

    def small(x):
        return (
            tuple(map(small, x))
            if isinstance(x, tuple)
            else getattr(x, "astype", lambda _: x)(np.float32)
        )

    return lambda *given: small(call(*map(small, given)))


def one_query_of_zero(a, b):
    """Returns the peak 0 for a query without keys, if another query has some."""
    peak, total, mix = merge(a, b)
    return (peak if np.isinf(peak).all() else np.where(np.isinf(peak), 0, peak)), total, mix


RIGHT = {
    "efficient-1": [3, 15, 5],
    "efficient-2": "BDE",
    "efficient-3": [[9, 1, 2, 3, 4, 5], [0, 1, 3, 2, 5, 4]],
    "efficient-4": merge,
    "efficient-5": attend_in_tiles(),
    "efficient-6": [9, 16, 7.6],
    "efficient-7": 192,
}
ALSO_RIGHT = {
    "fractions": ("efficient-1", (Fraction(3), 15, 5.0)),
    "an output as a fraction": ("efficient-6", [9, 16, Fraction(38, 5)]),
    "MiB in float32": ("efficient-7", np.float32(192.0)),
    "a list of arrays": ("efficient-4", lambda a, b: list(merge(a, b))),
    "the lowest number for no key": ("efficient-4", finite_peaks),
    "into its inputs": ("efficient-4", in_place),
    "the lowest finite peak": ("efficient-5", attend_in_tiles(peak=np.finfo(float).min)),
    "in float32": ("efficient-5", in_float32(attend_in_tiles(peak=np.finfo(np.float32).min))),
    "a merge in float32": ("efficient-4", in_float32(merge)),
    "the peak second": ("efficient-3", [[1, 9, 2, 3, 4, 5], [0, 9, 10, 11, 30, 20]]),
    "by log-sum-exp of the halves": (
        "efficient-4",
        lambda a, b: (merge(b, a)[0], merge(b, a)[1], merge(b, a)[2]),
    ),
}
WRONG = {
    "efficient-1": {
        "not rescaled": [4.25, 24, 24 / 4.25],
        "total alone": [3, 24, 8],
        "mix alone": [4.25, 15, 15 / 4.25],
        "the other way": [6.75, 42, 42 / 6.75],
        "the old peak": [6, 30, 5],
        "no peak": [48, 240, 5],
        "third tile alone": [1.75, 6, 6 / 1.75],
        "other": [1, 1, 1],
        "one number": 5,
    },
    "efficient-2": {
        "rounding": "ABDE",
        "slow": "BCDE",
        "bounds": "BDEF",
        "no B": "DE",
        "no D": "BE",
        "no E": "BD",
        "numbers": 7,
    },
    "efficient-3": {
        "exchanged": [[0, 1, 3, 2, 5, 4], [9, 1, 2, 3, 4, 5]],
        "shows": [RISING, RISING],
        "hides": [[9, 1, 2, 3, 4, 5], [9, 1, 2, 3, 4, 5]],
        "equal": [[1] * 6, RISING],
        "infinite": [[np.inf, 1, 2, 3, 4, 5], RISING],
        "one row": RISING,
    },
    "efficient-4": {
        "added": with_(left=False, right=False),
        "second alone": with_(left=False),
        "first alone": with_(right=False),
        "mix as it is": with_(mix=False),
        "divided": with_(divide=True),
        "lower peak": with_(peak=np.minimum),
        "overflow": by_exponentials,
        "an output": lambda a, b: merge(a, b)[2],
        "another total": lambda a, b: (merge(a, b)[0], 2 * merge(a, b)[1], merge(a, b)[2]),
        "empty part": not_empty,
        "two empty parts": one_empty,
        "a query without keys": whole_parts_alone,
        "raises": lambda a, b: a[7],
    },
    "efficient-5": {
        "as it was": attend_in_tiles(peak=0, offset=0),
        "the mask alone": attend_in_tiles(peak=0),
        "no mask": attend_in_tiles(offset=-99),
        "no array": lambda q, k, v, size: None,
    },
    "efficient-6": {
        "key alone": [18, 16, 7.6],
        "other tokens": [8, 16, 7.6],
        "without the ones": [9, 18, 7.6],
        "other features": [9, 15, 7.6],
        "before the key": [9, 16, 7.5],
        "key without φ": [9, 16, 166 / 22],
        "query without φ": [9, 16, 7.25],
        "no value": [9, 16, 6.2],
        "value alone": [9, 16, 8],
        "other output": [9, 16, 7],
    },
    "efficient-7": {
        "query heads": 768,
        "keys alone": 96,
        "four bytes": 384,
        "one layer": 8,
        "MB": 201.3,
        "bytes": 201326592,
        "other": 1,
    },
}

ALSO_WRONG = {
    "nearly equal": ("efficient-3", [[n * 1e-12 for n in range(6)], [0, 9, 10, 11, 30, 20]]),
    "a peak of −5,000": ("efficient-4", lambda a, b: clipped(merge(a, b), -5000)),
    "a peak of −10⁹": ("efficient-4", lambda a, b: clipped(merge(a, b), -1e9)),
    "a first peak of −2,000": ("efficient-5", attend_in_tiles(peak=-2000)),
    "a first peak of −10⁹": ("efficient-5", attend_in_tiles(peak=-1e9)),
    "exact, not in tiles": ("efficient-5", lambda q, k, v, size: causal_output(q, k, v)),
    "down and up": ("efficient-3", [[5, 4, 3, 2, 1, 0], RISING]),
    "a peak of 0": ("efficient-4", peak_of_zero),
    "the peak alone": ("efficient-5", attend_in_tiles(offset=0)),
    "the triangle the other way": ("efficient-5", attend_in_tiles(offset=1)),
    "a peak of 0 for one query": ("efficient-4", one_query_of_zero),
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong, also_wrong = RIGHT, ALSO_RIGHT, WRONG, ALSO_WRONG


@pytest.mark.parametrize("scores", [RISING, FALLING])
def test_tiles_give_the_output_of_all_keys_only_if_sums_are_rescaled(scores):
    scores, values = np.array(scores, dtype=float), np.array([4.0, 12, 6, 8, 2, 10])
    assert abs(tiled_output(scores, values, True) - output(scores, values)) < 1e-12
    gap = abs(tiled_output(scores, values, False) - output(scores, values))
    assert (gap < 1e-12) == (scores[0] == scores.max())
