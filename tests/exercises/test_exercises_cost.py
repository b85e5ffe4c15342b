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


def one_pair_for_show(q, k, r):
    """All scores as plain floats, and one counted product."""
    q[0, 0] * k[0, 0]
    return by_a_loop(np.array(q, float), np.array(k, float), r)


def by_vecdot(q, k, r):
    """One score at a time, by `np.vdot` and `np.vecdot`."""
    scores = np.full((len(q), r), -np.inf)
    for i, j in np.ndindex(*scores.shape):
        if i - r + 1 + j >= 0:
            product = np.vdot if j % 2 else np.vecdot
            scores[i, j] = product(q[i], k[i - r + 1 + j])
    return scores


def seconds(n, d, layers, texts, peak, bandwidth, *, flops=None, moved=None, join=max):
    """Right, unless an argument says otherwise: FLOPs and bytes of one layer, by part."""
    flops = (texts * 24 * d * d, texts * 4 * n * d) if flops is None else flops
    moved = (4 * 12 * d * d, 4 * 2 * n * d * texts) if moved is None else moved
    return layers * join([sum(flops) / peak, sum(moved) / bandwidth])


def seconds_with(change):
    """The answer of somebody whose FLOPs or bytes are `change(n, d, texts)`."""
    return lambda n, d, layers, texts, *chip: seconds(
        n, d, layers, texts, *chip, **change(n, d, texts)
    )


def in_turns(n, d, layers, texts, peak, bandwidth):
    """The matrices, then the caches: the longer time of each, added."""
    weights = max(texts * 24 * d * d / peak, 48 * d * d / bandwidth)
    return layers * (weights + texts * n * d * max(4 / peak, 8 / bandwidth))


def seconds_by_layers(n, d, layers, texts, peak, bandwidth):
    """Right: each matrix and each strip for itself, with float32 at the end."""
    compute = read = 0.0
    for _ in range(layers):
        for rows, columns in ((d, d),) * 4 + ((d, 4 * d), (4 * d, d)):
            compute += 2 * texts * rows * columns / peak
            read += 4 * rows * columns / bandwidth
        for _ in ("scores", "mix"):
            compute += 2 * texts * n * d / peak
            read += 4 * texts * n * d / bandwidth
    return np.float32(max(compute, read))


RIGHT = {
    "cost-1": "BDCA",
    "cost-2": 2048,
    "cost-3": "BDF",
    "cost-4": by_a_loop,
    "cost-5": seconds,
    "cost-6": "BF",
    "cost-7": "CBDA",
}
ALSO_RIGHT = {
    "small letters": ("cost-1", "b, d, c, a"),
    "in lower case": ("cost-7", "cbda"),
    "a list of four": ("cost-7", ["C", "B", "D", "A"]),
    "with spaces": ("cost-7", "c, b, d, a"),
    "by shifts": ("cost-4", by_shifts),
    "by vdot": ("cost-4", by_vecdot),
    "with signs turned": ("cost-4", lambda q, k, r: by_a_loop(-q, -k, r)),
    "an array of letters": ("cost-1", np.array(list("BDCA"))),
    "by layers": ("cost-5", seconds_by_layers),
}
WRONG = {
    "cost-1": {
        "letters missing": "BDC",
        "heads not seen": "CDBA",
        "d not seen": "BACD",
        "both": "CABD",
        "other": "ABCD",
    },
    "cost-2": {
        "encoder": 3072,
        "scores of one": 4096,
        "projections of one": 1536,
        "a ratio": 4,
        "no projections": 1024,
        "projections twice": 2304,
        "three n² parts": 1365.33,
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
        "weights for each text": seconds_with(
            lambda n, d, texts: {"moved": (4 * texts * 12 * d * d, 4 * texts * 2 * n * d)}
        ),
        "one cache": seconds_with(lambda n, d, texts: {"moved": (48 * d * d, 8 * n * d)}),
        "no cache": seconds_with(lambda n, d, texts: {"moved": (48 * d * d, 0)}),
        "keys alone": seconds_with(lambda n, d, texts: {"moved": (48 * d * d, 4 * n * d * texts)}),
        "two bytes": seconds_with(lambda n, d, texts: {"moved": (24 * d * d, 4 * n * d * texts)}),
        "one FLOP": seconds_with(
            lambda n, d, texts: {"flops": (texts * 12 * d * d, texts * 2 * n * d)}
        ),
        "the prompt": seconds_with(
            lambda n, d, texts: {"flops": (texts * n * 24 * d * d, texts * n * 4 * n * d)}
        ),
        "FLOPs of one text": seconds_with(lambda n, d, texts: {"flops": (24 * d * d, 4 * n * d)}),
        "one key more": seconds_with(
            lambda n, d, texts: {
                "flops": (texts * 24 * d * d, texts * 4 * (n + 1) * d),
                "moved": (48 * d * d, 8 * (n + 1) * d * texts),
            }
        ),
        "one key more in the FLOPs": seconds_with(
            lambda n, d, texts: {"flops": (texts * 24 * d * d, texts * 4 * (n + 1) * d)}
        ),
        "new keys written": seconds_with(
            lambda n, d, texts: {"moved": (48 * d * d, 8 * (n + 1) * d * texts)}
        ),
        "in turns": in_turns,
        "for each text": lambda n, d, layers, texts, *chip: (
            seconds(n, d, layers, texts, *chip) / texts
        ),
        "one layer": lambda n, d, layers, *rest: seconds(n, d, 1, *rest),
        "sum": lambda *sizes: seconds(*sizes, join=sum),
        "the shorter": lambda *sizes: seconds(*sizes, join=min),
        "FLOPs alone": lambda *sizes: seconds(*sizes, join=lambda times: times[0]),
        "bytes alone": lambda *sizes: seconds(*sizes, join=lambda times: times[1]),
        "milliseconds": lambda *sizes: 1e3 * seconds(*sizes),
    },
    "cost-6": {
        "A": "ABF",
        "C": "BCF",
        "D": "BDF",
        "between the ridges": "BEF",
        "one missing": "B",
        "every product": "ABDEF",
    },
    "cost-7": {
        "letters missing": "CBA",
        "the chain not read": "CDBA",
        "the first column only": "ABDC",
        "both": "ADBC",
        "attention grows with d²": "BCDA",
        "other": "CBAD",
    },
}
ALSO_WRONG = {
    "one pair for show": ("cost-4", one_pair_for_show),
    "one projection twice": ("cost-2", 2176),
    "four projections twice": ("cost-2", 2560),
    "three n² parts, cut": ("cost-2", 1365),
    "three n² parts, a fraction": ("cost-2", 4096 / 3),
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong, also_wrong = RIGHT, ALSO_RIGHT, WRONG, ALSO_WRONG


def test_the_table_of_exercise_7_is_what_the_layers_count():
    """Kernel 2, window 64: A is restricted, B recurrent, C self-attention, D a convolution."""

    def attention(q, k, v):
        return (q @ k.T) @ v

    x, w = np.ones((8, 4)), np.ones((4, 4))
    assert count_operations(attention, x, x, x).multiplications == 2 * 8 * 8 * 4
    assert count_operations(lambda a, b: a @ b + a @ b, x, w).multiplications == 2 * 8 * 4 * 4
