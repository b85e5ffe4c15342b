"""The exercises of "Looking inside": right answers pass; each mistake meets its own hint."""

from fractions import Fraction
from typing import ClassVar

import numpy as np

from tests.helpers.exercises import ExerciseAnswers


def score(weights, alignment):
    aligned = {i for i, _ in alignment}
    hits = [(i, int(weights[i].argmax())) in alignment for i in aligned]
    return sum(hits) / len(aligned)


def number(weights, alignment):
    return score(weights, alignment) * len({i for i, _ in alignment})


def all_rows(weights, alignment):
    return number(weights, alignment) / len(weights)


def by_pairs(weights, alignment):
    return number(weights, alignment) / len(alignment)


def columns(weights, alignment):
    peaks = weights.argmax(axis=0)
    hits = sum((int(i), j) in alignment for j, i in enumerate(peaks))
    return hits / len({i for i, _ in alignment})


def other_way_round(weights, alignment):
    hits = sum((int(row.argmax()), i) in alignment for i, row in enumerate(weights))
    return hits / len({i for i, _ in alignment})


def summed(weights, alignment):
    return sum(weights[i, j] for i, j in alignment) / len({i for i, _ in alignment})


def in_one_line(weights, alignment):
    rows = sorted({i for i, _ in alignment})
    return np.mean([(i, weights[i].argmax()) in alignment for i in rows])


def as_a_dict(weights, alignment):
    one = dict(alignment)
    return np.mean([int(weights[i].argmax()) == j for i, j in one.items()])


def as_an_array(weights, alignment):
    return np.array([score(weights, alignment)])


def moves(A, new, V, W_O):
    return np.linalg.norm(((new - A) @ V @ W_O).sum(axis=0), axis=-1)


def moves_in_a_loop(A, new, V, W_O):
    lengths = []
    for i in range(A.shape[1]):
        change = sum((new[h, i] - A[h, i]) @ V[h] @ W_O[h] for h in range(len(A)))
        lengths.append(float(np.sqrt((change**2).sum())))
    return lengths


def outputs(A, V, W_O):
    return (A @ V @ W_O).sum(axis=0)


def equal(mask):
    return mask / mask.sum(axis=1, keepdims=True)


def equal_in_a_loop(mask):
    return [[float(on) / sum(row) for on in row] for row in mask.tolist()]


def equal_by_softmax(mask):
    e = np.exp(np.where(mask, np.float32(0), -np.inf))
    return e / e.sum(axis=-1, keepdims=True)


def causal_only(mask):
    return equal(np.tri(*mask.shape, mask.shape[1] - mask.shape[0], dtype=bool))


def not_equal(mask):
    weights = np.where(mask, np.arange(1, mask.shape[1] + 1), 0)
    return weights / weights.sum(axis=1, keepdims=True)


def by_columns(mask):
    with np.errstate(all="ignore"):
        return mask / mask.sum(axis=0)


class TestAnswers(ExerciseAnswers):
    right: ClassVar = {
        "results-1": (5, 1.41),
        "results-2": [0, 0, 0.9, 0.1],
        "results-3": "YNYNN",
        "results-4": moves,
        "results-5": equal,
        "results-6": score,
        "results-7": 0.0625,
    }
    also_right: ClassVar = {
        "more digits": ("results-1", [5.0, np.sqrt(2)]),
        "fractions": ("results-2", [0, 0, Fraction(9, 10), Fraction(1, 10)]),
        "float32": ("results-2", np.array([0, 0, 0.9, 0.1], np.float32)),
        "half precision": ("results-2", np.array([0, 0, 0.9, 0.1], np.float16)),
        "an array of letters": ("results-3", np.array(list("YNYNN"))),
        "a list": ("results-3", ["y", "N", "Y", "n", "N"]),
        "with commas": ("results-3", "Y, N, Y, N, N\n"),
        "words": ("results-3", ("yes", "no", "yes", "no", "no")),
        "booleans": ("results-3", [True, False, True, False, False]),
        "a rounding error below 0": ("results-2", [-1e-17, 0, 0.9, 0.1]),
        "a loop": ("results-4", moves_in_a_loop),
        "a loop over rows": ("results-5", equal_in_a_loop),
        "a softmax": ("results-5", equal_by_softmax),
        "a mean": ("results-6", in_one_line),
        "an array of one": ("results-6", as_an_array),
        "a fraction": ("results-7", Fraction(1, 16)),
        "three digits": ("results-7", 0.063),
        "two digits": ("results-7", 0.06),
    }
    also_wrong: ClassVar = {
        "one missing": ("results-3", "YNYN"),
        "a triangle": ("results-5", lambda mask: equal(np.tri(*mask.shape))),
    }
    wrong: ClassVar = {
        "results-1": {
            "exchanged": (1.41, 5),
            "one entry": (4, 1.41),
            "entries added": (7, 1.41),
            "no weights": (12.69, 1.41),
            "other off": (6, 1.41),
            "new length": (5, 5.39),
            "lengths subtracted": (5, 0.385),
            "changes added": (5, 2),
            "sum of three": (5, 15.3),
            "other equal": (5, 1),
        },
        "results-2": {
            "the same": [0.4, 0.4, 0.1, 0.1],
            "negative": [0, -0.1, 1, 0.1],
            "sum": [0, 0.4, 0.1, 0.1],
            "a part": [0.2, 0.2, 0.5, 0.1],
            "to cat": [0, 0.8, 0.1, 0.1],
            "half": [0, 0.4, 0.5, 0.1],
        },
        "results-3": {
            "only one is needed": "NNYNN",
            "together": "YYYNN",
            "a count is not a need": "YNNNN",
            "in any case": "YNYYN",
            "alone and together": "YYYYN",
            "the same work": "YNYNY",
            "exchanged": "NYNYY",
            "all": "YYYYY",
            "letters": "CD",
        },
        "results-4": {
            "lengths added": lambda A, new, V, W_O: np.linalg.norm(
                (new - A) @ V @ W_O, axis=-1
            ).sum(axis=0),
            "lengths subtracted": lambda A, new, V, W_O: (
                np.linalg.norm(outputs(new, V, W_O), axis=-1)
                - np.linalg.norm(outputs(A, V, W_O), axis=-1)
            ),
            "vectors": lambda A, new, V, W_O: outputs(new - A, V, W_O),
            "by head": lambda A, new, V, W_O: np.linalg.norm((new - A) @ V @ W_O, axis=-1),
            "without W_O": lambda A, new, V, W_O: np.linalg.norm(
                ((new - A) @ V).sum(axis=0), axis=-1
            ),
            "one number": lambda A, new, V, W_O: np.linalg.norm(outputs(new - A, V, W_O)),
            "squares": lambda A, new, V, W_O: (outputs(new - A, V, W_O) ** 2).sum(axis=-1),
            "new length": lambda A, new, V, W_O: np.linalg.norm(outputs(new, V, W_O), axis=-1),
            "weight moved": lambda A, new, V, W_O: np.abs(new - A).sum(axis=(0, 2)) / 2,
            "one head": lambda A, new, V, W_O: np.linalg.norm(
                (new - A)[0] @ V[0] @ W_O[0], axis=-1
            ),
            "along the words": lambda A, new, V, W_O: np.linalg.norm(
                outputs(new - A, V, W_O), axis=0
            ),
            "zeros": lambda A, new, V, W_O: np.zeros(A.shape[1]),
        },
        "results-5": {
            "not mended": lambda mask: np.full(mask.shape, 1 / mask.shape[1]),
            "not divided": lambda mask: mask / mask.shape[1],
            "by all": lambda mask: mask / mask.sum(),
            "columns": by_columns,
            "causal only": causal_only,
            "the mask": lambda mask: mask.astype(float),
            "not equal": not_equal,
        },
        "results-6": {
            "a number": number,
            "all rows": all_rows,
            "by pairs": by_pairs,
            "columns": columns,
            "other way round": other_way_round,
            "summed": summed,
            "a dict": as_a_dict,
            "nothing": lambda weights, alignment: -1.0,
        },
        "results-7": {
            "one of the two": 1 / 32,
            "one seed": 0.5,
            "added": 0.1,
            "a fifth": 0.2,
            "a fifth, squared": 0.04,
            "percent": 6.3,
            "other": 0.9,
        },
    }
