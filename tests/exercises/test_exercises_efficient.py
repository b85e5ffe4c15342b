"""The exercises of "Attention for long texts": each typical mistake meets its own hint."""

import numpy as np
import pytest

from qkv.exercises.efficient import output, tiled_output
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


RIGHT = {
    "efficient-1": [2.5, 12, 4.8],
    "efficient-2": "BDE",
    "efficient-3": [[9, 1, 2, 3, 4, 5], [0, 1, 3, 2, 5, 4]],
    "efficient-4": merge,
}
ALSO_RIGHT = {
    "the peak second": ("efficient-3", [[1, 9, 2, 3, 4, 5], [0, 9, 10, 11, 30, 20]]),
    "by log-sum-exp of the halves": (
        "efficient-4",
        lambda a, b: (merge(b, a)[0], merge(b, a)[1], merge(b, a)[2]),
    ),
}
WRONG = {
    "efficient-1": {
        "not rescaled": [3.5, 19, 19 / 3.5],
        "total alone": [2.5, 19, 7.6],
        "mix alone": [3.5, 12, 12 / 3.5],
        "the other way": [5.5, 33, 6],
        "the old peak": [5, 24, 4.8],
        "no peak": [40, 192, 4.8],
        "third tile alone": [1.5, 5, 10 / 3],
        "other": [1, 1, 1],
        "one number": 4.8,
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
}

ALSO_WRONG = {
    "down and up": ("efficient-3", [[5, 4, 3, 2, 1, 0], RISING]),
    "a peak of 0": ("efficient-4", peak_of_zero),
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong, also_wrong = RIGHT, ALSO_RIGHT, WRONG, ALSO_WRONG


@pytest.mark.parametrize("scores", [RISING, FALLING])
def test_tiles_give_the_output_of_all_keys_only_if_sums_are_rescaled(scores):
    scores, values = np.array(scores, dtype=float), np.array([4.0, 12, 6, 8, 2, 10])
    assert abs(tiled_output(scores, values, True) - output(scores, values)) < 1e-12
    gap = abs(tiled_output(scores, values, False) - output(scores, values))
    assert (gap < 1e-12) == (scores[0] == scores.max())
