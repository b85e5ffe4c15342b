"""The exercises of "A Transformer at work"."""

import math
from typing import ClassVar

import numpy as np

from tests.helpers.exercises import ExerciseAnswers

MIX = np.array([[0.5, 0.25, 0.25], [0, 1, 0]])
ROWS = np.array([[4, 0], [0, 8], [8, 4]])
POWERS = np.exp([math.log(2), 0, 0])


class TestAnswers(ExerciseAnswers):
    right: ClassVar = {
        "start-1": MIX @ ROWS,
        "start-2": POWERS / POWERS.sum(),
        "start-3": (2 * 1 + 3 * 2, 3 * 1),
        "start-4": (1 - 0.12 - 0.36, "AD"),
    }
    also_wrong: ClassVar = {
        "one hundredth moved": ("start-2", [0.5, 0.26, 0.24]),
        "no 2 : 1 : 1": ("start-2", [0.49, 0.25, 0.25]),
    }
    wrong: ClassVar = {
        "start-1": {
            "one row": [4, 3],
            "transposed": (MIX @ ROWS).T,
            "plain average": [[4, 4], [4, 4]],
            "sum": [[12, 12], [0, 8]],
            "the other order": ROWS @ MIX,
            "something else": [[4, 3], [8, 4]],
        },
        "start-2": {
            "not divided": [2, 1, 1],
            "no exponentials": [1, 0, 0],
            "equal": [1 / 3, 1 / 3, 1 / 3],
            "negated": [0.2, 0.4, 0.4],
            "no shares": [0.5, 0.5, 0.5],
            "something else": [0.6, 0.2, 0.2],
        },
        "start-3": {
            "value": 7,
            "along x": 8,
            "no mixed slope": [2, 3],
            "one term each": [2, 6],
            "exchanged": [3, 8],
            "descent": [-8, -3],
            "a row of four": [8, 3, 0, 0],
            "something else": [5, 5],
        },
        "start-4": {
            "no letters": 0.52,
            "no claim": (0.52, ""),
            "the sum of the others": (0.48, "AD"),
            "one word forgotten": (0.64, "AD"),
            "something else": (0.5, "AD"),
            "weight taken for need": (0.52, "ABD"),
            "small weight taken for no need": (0.52, "ACD"),
            "only the empty word": (0.52, "D"),
            "only the largest": (0.52, "A"),
        },
    }
