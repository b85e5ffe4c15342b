"""The exercises of "A Transformer at work"."""

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tests.helpers.exercises import ExerciseAnswers

MIX = np.array([[0.5, 0.25, 0.25], [0, 1, 0]])
ROWS = np.array([[4, 0], [0, 8], [8, 4]])
POWERS = np.exp([math.log(2), 0, 0])
BLOCKED = ["rabbit", "carrot", "cat", "room"]


def looks(labels, heads=slice(None), rows=None, as_type=list, over=np.mean):
    """A function like the chapter's, with other labels, heads, rows, or no average of the heads."""

    def function(maps):
        weights = over(maps.stack("cross")[0][heads], axis=0)[rows]
        largest = [maps.source[row.argmax()] for row in weights]
        return as_type(zip(labels(maps), largest, strict=False))

    return function


def written(maps):
    return maps.target


def columns(maps):
    weights = maps.stack("cross")[0].mean(axis=0).T
    return [(maps.target[column.argmax()], maps.source[n]) for n, column in enumerate(weights)]


class TestAnswers(ExerciseAnswers):
    right: ClassVar = {
        "start-5": MIX @ ROWS,
        "start-6": POWERS / POWERS.sum(),
        "start-7": (2 * 1 + 3 * 2, 3 * 1),
        "start-1": ((1 - 0.93 + 0.99) / 2, "AD"),
        "start-2": BLOCKED,
        "start-3": looks(written, rows=slice(None)),
        "start-4": "ABE",
    }
    also_right: ClassVar = {
        "letters with a word": ("start-1", [Fraction(53, 100), "A and D"]),
        "small letters, a list": ("start-1", (0.53, ["d", "a"])),
        "a tuple": ("start-2", tuple(BLOCKED)),
        "with articles": ("start-2", ["the rabbit", "The carrot", "a cat", "The room"]),
        "a string for the number": ("start-1", ("0.53", "AD")),
        "one string": ("start-2", "rabbit, carrot, cat, room"),
        "one string with articles": ("start-2", "the rabbit, the carrot, a cat, the room"),
        "an array": ("start-2", np.array(BLOCKED)),
        "the sum of the heads": ("start-3", looks(written, rows=slice(None), over=np.sum)),
        "a generator": ("start-3", looks(written, rows=slice(None), as_type=iter)),
        "a dictionary": ("start-3", looks(written, rows=slice(None), as_type=dict)),
        "in another order": ("start-4", ["e", "B", "a"]),
    }
    also_wrong: ClassVar = {
        "one hundredth moved": ("start-6", [0.5, 0.26, 0.24]),
        "no 2 : 1 : 1": ("start-6", [0.49, 0.25, 0.25]),
        "the other way round": ("start-2", BLOCKED[::-1]),
        "the maximum of the heads": ("start-3", looks(written, rows=slice(None), over=np.max)),
        "the product of the heads": ("start-3", looks(written, rows=slice(None), over=np.prod)),
        "nothing": ("start-3", lambda maps: []),
        "the second head alone": (
            "start-3",
            looks(written, heads=slice(1, 2), rows=slice(None)),
        ),
        "labels moved the other way": (
            "start-3",
            looks(lambda maps: [*maps.target[1:], "<sos>"], rows=slice(None)),
        ),
    }
    wrong: ClassVar = {
        "start-5": {
            "one row": [4, 3],
            "transposed": (MIX @ ROWS).T,
            "plain average": [[4, 4], [4, 4]],
            "sum": [[12, 12], [0, 8]],
            "the other order": ROWS @ MIX,
            "something else": [[4, 3], [8, 4]],
        },
        "start-6": {
            "not divided": [2, 1, 1],
            "no exponentials": [1, 0, 0],
            "equal": [1 / 3, 1 / 3, 1 / 3],
            "negated": [0.2, 0.4, 0.4],
            "no shares": [0.5, 0.5, 0.5],
            "something else": [0.6, 0.2, 0.2],
        },
        "start-7": {
            "value": 7,
            "along x": 8,
            "no mixed slope": [2, 3],
            "one term each": [2, 6],
            "exchanged": [3, 8],
            "descent": [-8, -3],
            "a row of four": [8, 3, 0, 0],
            "something else": [5, 5],
        },
        "start-1": {
            "no letters": 0.53,
            "no claim": (0.53, ""),
            "head 1 alone": (0.07, "AD"),
            "head 2 alone": (0.99, "AD"),
            "the sum of the heads": (1.06, "AD"),
            "something else": (0.5, "AD"),
            "weight taken for need": (0.53, "ABD"),
            "small weight taken for no need": (0.53, "ACD"),
            "only the empty word": (0.53, "D"),
            "only the largest": (0.53, "A"),
        },
        "start-2": {
            "one noun": "room",
            "another noun": ["rabbit", "carrot", "garden", "room"],
            "no block": ["carrot", "carrot", "cat", "student"],
            "always the subject": ["rabbit", "we", "cat", "student"],
            "persons stay": ["rabbit", "carrot", "cat", "student"],
            "never the subject": ["carrot", "carrot", "room", "room"],
        },
        "start-3": {
            "not mended": looks(lambda maps: maps.decoder_input, rows=slice(None)),
            "without <eos>": looks(lambda maps: maps.target[:-1], rows=slice(None)),
            "the first head alone": looks(written, heads=slice(1), rows=slice(None)),
            "labels of the row before": looks(
                lambda maps: [maps.target[-1], *maps.target[:-1]], rows=slice(None)
            ),
            "no pairs": lambda maps: list(maps.target),
        },
        "start-4": {
            "the way alone": "A",
            "everything": "ABCDE",
            "the size too": "ABCE",
            "another model too": "ABDE",
            "no control": "AE",
        },
    }
