"""The exercises of "The whole Transformer": right answers pass; each mistake meets its hint."""

from typing import ClassVar

import numpy as np
import pytest

from qkv.exercises import check
from tests.helpers.exercises import ExerciseAnswers

SHAPES = [(9, 64), (4, 5, 9), (5, 423)]


def shift(ids, first=1, answers=None, inputs=None):
    left = np.concatenate([ids[:, 1:], np.zeros((len(ids), 1), int)], 1)
    right = np.concatenate([np.full((len(ids), 1), first), ids[:, :-1]], 1)
    named = {"ids": ids, "left": left, "right": right, "roll": np.roll(ids, 1, axis=1)}
    return named[inputs or "right"], named[answers or "ids"]


def by_a_loop(ids):
    inputs = [[1, *row[:-1]] for row in ids.tolist()]
    return inputs, ids.tolist()


def as_floats(ids):
    inputs, answers = shift(ids)
    return inputs.astype(np.float32), answers.astype(np.float32)


class TestAnswers(ExerciseAnswers):
    quoted = True
    right: ClassVar = {
        "transformer-1": SHAPES,
        "transformer-2": 260,
        "transformer-3": "BD",
        "transformer-4": shift,
        "transformer-5": (8, 8),
        "transformer-6": 39_841,
    }
    also_right: ClassVar = {
        "by a loop": ("transformer-4", by_a_loop),
        "floats": ("transformer-4", as_floats),
    }
    wrong: ClassVar = {
        "transformer-1": {
            "a token is a row": [(64, 9), (4, 5, 9), (5, 423)],
            "axis for the batch": [(1, 9, 64), (1, 4, 5, 9), (1, 5, 423)],
            "decoder's length": [(5, 64), (4, 5, 9), (5, 423)],
            "exchanged": [(9, 64), (4, 9, 5), (5, 423)],
            "self-attention": [(9, 64), (4, 5, 5), (5, 423)],
            "one head": [(9, 64), (5, 9), (5, 423)],
            "one row": [(9, 64), (4, 5, 9), (1, 423)],
            "no logits": [(9, 64), (4, 5, 9), (9, 423)],
            "Three shapes": [(9, 64), (4, 5, 9)],
        },
        "transformer-2": {
            "encoder layer": 172,
            "norms are missing": 236,
            "biases are missing": 216,
            "once for each head": 420,
            "Not this number": 261,
        },
        "transformer-3": {"not right": "ABD", "is held": "BDE", "every move": "AB"},
        "transformer-4": {
            "Nothing is shifted": lambda ids: (ids, ids),
            "Shifted twice": lambda ids: shift(ids, answers="left"),
            "never predicted": lambda ids: shift(ids, inputs="left"),
            "came round": lambda ids: shift(ids, inputs="roll"),
            "not <sos>": lambda ids: shift(ids, first=0),
            "wrong order": lambda ids: shift(ids)[::-1],
            "shapes are": lambda ids: (ids[:, :-1], ids[:, 1:]),
            "Two arrays": lambda ids: shift(ids)[0],
        },
        "transformer-5": {
            "raise an error": (6, 7),
            "encoder's attention": (7, 7),
            "decoder's self-attention": (8, 7),
            "pair, such as": 8,
        },
        "transformer-6": {
            "65.0 million": 40_818,
            "One too few": 39_840,
            "twice": 19_921,
            "Not this number": 37_000,
        },
    }
    also_wrong: ClassVar = {
        "one shape": ("transformer-1", (9, 64, 5)),
        "no shift but back": (
            "transformer-4",
            lambda ids: shift(ids, inputs="ids", answers="left"),
        ),
    }


@pytest.mark.parametrize("name", TestAnswers.wrong)
def test_hints_do_not_give_the_answer(name):
    hints = [check(name, answer).hint for answer in TestAnswers.wrong[name].values()]
    assert not any(secret in hint for hint in hints for secret in ("260", "39,841", "(4, 5, 9)"))
