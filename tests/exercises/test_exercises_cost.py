"""The exercises of "What attention costs": right answers pass; each mistake meets its own hint."""

import numpy as np

from qkv.counting import count_operations
from tests.helpers.exercises import ExerciseAnswers


def by_a_loop(q, k, r):
    scores = np.full((len(q), r), -np.inf)
    for i in range(len(q)):
        for j in range(r):
            if i - r + 1 + j >= 0:
                scores[i, j] = q[i] @ k[i - r + 1 + j]
    return scores


def by_shifts(q, k, r):
    """One column at a time: the keys shifted down."""
    scores = np.full((len(q), r), -np.inf)
    for back in range(min(r, len(q))):
        scores[back:, r - 1 - back] = (q[back:] * k[: len(k) - back]).sum(axis=1)
    return scores


def from_all(q, k, r):
    """Right, after n² d multiplications."""
    full = q @ k.T
    scores = np.full((len(q), r), -np.inf)
    for i, j in np.ndindex(*scores.shape):
        if i - r + 1 + j >= 0:
            scores[i, j] = full[i, i - r + 1 + j]
    return scores


def ahead(q, k, r):
    full = q @ k.T
    scores = np.full((len(q), r), -np.inf)
    for i, j in np.ndindex(*scores.shape):
        if i - r + 1 + j >= 0:
            scores[i, j] = full[i, min(i + j, len(k) - 1)]
    return scores


def own_key_left_out(q, k, r):
    return by_a_loop(q, np.roll(k, 1, axis=0), r)


RIGHT = {
    "cost-1": "CBDA",
    "cost-2": 2048,
    "cost-3": "BDF",
    "cost-4": by_a_loop,
    "cost-5": 6,
    "cost-6": "BE",
}
ALSO_RIGHT = {
    "in lower case": ("cost-1", "cbda"),
    "a list of four": ("cost-1", ["C", "B", "D", "A"]),
    "with spaces": ("cost-1", "c, b, d, a"),
    "by shifts": ("cost-4", by_shifts),
}
WRONG = {
    "cost-1": {
        "letters missing": "CBA",
        "the chain not read": "CDBA",
        "the first column only": "ABDC",
        "both": "ADBC",
        "attention grows with d²": "BCDA",
        "other": "CBAD",
    },
    "cost-2": {
        "encoder": 3072,
        "scores of one": 4096,
        "projections of one": 1536,
        "a ratio": 4,
        "no projections": 1024,
        "other": 512,
    },
    "cost-3": {
        "A": "ABDF",
        "C": "BCDF",
        "E": "BDEF",
        "B missing": "DF",
        "D missing": "BF",
        "F missing": "BD",
    },
    "cost-4": {
        "all scores": lambda q, k, r: q @ k.T,
        "no wider than the text": lambda q, k, r: by_a_loop(q, k, min(r, len(q))),
        "one too wide": lambda q, k, r: by_a_loop(q, k, r + 1),
        "0 for −∞": lambda q, k, r: np.where(np.isinf(s := by_a_loop(q, k, r)), 0, s),
        "reversed": lambda q, k, r: np.where(
            np.isinf(s := by_a_loop(q, k, r)), s, np.where(np.isinf(s), 0, s)[:, ::-1]
        ),
        "scaled": lambda q, k, r: by_a_loop(q, k, r) / np.sqrt(q.shape[1]),
        "ahead": ahead,
        "own key left out": own_key_left_out,
        "too much work": from_all,
        "converted": lambda q, k, r: by_a_loop(np.array(q, float), np.array(k, float), r),
    },
    "cost-5": {
        "intensity": 3,
        "one FLOP": 12,
        "two bytes": 1.5,
        "eight bytes": 24,
        "upside down": 1 / 6,
        "other": 7,
    },
    "cost-6": {"A": "ABE", "C": "BCE", "D": "BDE", "one missing": "B"},
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong = RIGHT, ALSO_RIGHT, WRONG


def test_the_table_of_exercise_1_is_what_the_layers_count():
    """Kernel 2, window 64: A is restricted, B recurrent, C self-attention, D a convolution."""

    def attention(q, k, v):
        return (q @ k.T) @ v

    x, w = np.ones((8, 4)), np.ones((4, 4))
    assert count_operations(attention, x, x, x).multiplications == 2 * 8 * 8 * 4
    assert count_operations(lambda a, b: a @ b + a @ b, x, w).multiplications == 2 * 8 * 4 * 4
