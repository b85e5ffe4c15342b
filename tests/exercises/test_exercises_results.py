"""The exercises of "Looking inside": right answers pass; each mistake meets its own hint."""

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


class TestAnswers(ExerciseAnswers):
    right: ClassVar = {
        "results-1": (5, 1.41),
        "results-2": [0, 0, 0.9, 0.1],
        "results-3": "00-0+",
        "results-4": score,
        "results-5": 0.0625,
    }
    also_right: ClassVar = {
        "more digits": ("results-1", [5.0, np.sqrt(2)]),
        "a list": ("results-3", [0, "0", "\N{MINUS SIGN}", 0, "+"]),
        "a mean": ("results-4", in_one_line),
        "a fraction": ("results-5", 1 / 16),
        "three digits": ("results-5", 0.063),
        "two digits": ("results-5", 0.06),
    }
    also_wrong: ClassVar = {"one missing": ("results-3", "00-0")}
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
            "off": "+0-0+",
            "looks": "0+-0+",
            "equal": "00+0+",
            "equal says nothing": "0000+",
            "another model": "00--+",
            "the control is passed over": "00-00",
            "letters": "CD",
        },
        "results-4": {
            "a number": number,
            "all rows": all_rows,
            "by pairs": by_pairs,
            "columns": columns,
            "other way round": other_way_round,
            "summed": summed,
            "nothing": lambda weights, alignment: -1.0,
        },
        "results-5": {
            "one of the two": 1 / 32,
            "one seed": 0.5,
            "added": 0.1,
            "a fifth": 0.2,
            "a fifth, squared": 0.04,
            "percent": 6.3,
            "other": 0.9,
        },
    }
