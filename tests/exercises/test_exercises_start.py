"""The exercises of "A Transformer at work"."""

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tests.helpers.exercises import ExerciseAnswers

MIX = np.array([[0.5, 0.25, 0.25], [0, 1, 0]])
ROWS = np.array([[4, 0], [0, 8], [8, 4]])
POWERS = np.exp([math.log(2), 0, 0])
BLOCKED = ["cat", "room", "cat", "room"]


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
        "start-1": MIX @ ROWS,
        "start-2": POWERS / POWERS.sum(),
        "start-3": (2 * 1 + 3 * 2, 3 * 1),
        "start-4": (1 - 0.12 - 0.36, "AD"),
        "start-5": BLOCKED,
        "start-6": looks(written, rows=slice(None)),
        "start-7": "ABE",
    }
    also_right: ClassVar = {
        "letters with a word": ("start-4", [Fraction(13, 25), "A and D"]),
        "small letters, a list": ("start-4", (0.52, ["d", "a"])),
        "a tuple": ("start-5", tuple(BLOCKED)),
        "with articles": ("start-5", ["the cat", "The room", "a cat", "The room"]),
        "a string for the number": ("start-4", ("0.52", "AD")),
        "one string": ("start-5", "cat, room, cat, room"),
        "one string with articles": ("start-5", "the cat, the room, a cat, the room"),
        "an array": ("start-5", np.array(BLOCKED)),
        "the sum of the heads": ("start-6", looks(written, rows=slice(None), over=np.sum)),
        "a generator": ("start-6", looks(written, rows=slice(None), as_type=iter)),
        "a dictionary": ("start-6", looks(written, rows=slice(None), as_type=dict)),
        "in another order": ("start-7", ["e", "B", "a"]),
    }
    also_wrong: ClassVar = {
        "one hundredth moved": ("start-2", [0.5, 0.26, 0.24]),
        "no 2 : 1 : 1": ("start-2", [0.49, 0.25, 0.25]),
        "the other way round": ("start-5", BLOCKED[::-1]),
        "the maximum of the heads": ("start-6", looks(written, rows=slice(None), over=np.max)),
        "the product of the heads": ("start-6", looks(written, rows=slice(None), over=np.prod)),
        "nothing": ("start-6", lambda maps: []),
        "the second head alone": (
            "start-6",
            looks(written, heads=slice(1, 2), rows=slice(None)),
        ),
        "labels moved the other way": (
            "start-6",
            looks(lambda maps: [*maps.target[1:], "<sos>"], rows=slice(None)),
        ),
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
        "start-5": {
            "one noun": "room",
            "another noun": ["cat", "room", "garden", "room"],
            "no block": ["room", "room", "cat", "child"],
            "always the subject": ["cat", "child", "cat", "child"],
            "persons stay": ["cat", "room", "cat", "child"],
            "never the subject": ["room", "room", "room", "room"],
        },
        "start-6": {
            "not mended": looks(lambda maps: maps.decoder_input, rows=slice(None)),
            "without <eos>": looks(lambda maps: maps.target[:-1], rows=slice(None)),
            "the first head alone": looks(written, heads=slice(1), rows=slice(None)),
            "labels of the row before": looks(
                lambda maps: [maps.target[-1], *maps.target[:-1]], rows=slice(None)
            ),
            "no pairs": lambda maps: list(maps.target),
        },
        "start-7": {
            "the way alone": "A",
            "everything": "ABCDE",
            "the size too": "ABCE",
            "another model too": "ABDE",
            "no control": "AE",
        },
    }
