"""The exercises of "The whole Transformer": right answers pass; each mistake meets its hint."""

import numpy as np
import pytest

from qkv.exercises import check

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


RIGHT = [
    ("transformer-1", SHAPES),
    ("transformer-1", tuple(SHAPES)),
    ("transformer-1", [list(shape) for shape in SHAPES]),
    ("transformer-1", [np.array(shape) for shape in SHAPES]),
    ("transformer-2", 260),
    ("transformer-2", np.float32(260)),
    ("transformer-2", [260]),
    ("transformer-3", "BD"),
    ("transformer-3", ["d", "b"]),
    ("transformer-4", shift),
    ("transformer-4", by_a_loop),
    ("transformer-4", as_floats),
    ("transformer-5", (8, 8)),
    ("transformer-5", [8.0, 8.0]),
    ("transformer-6", 39_841),
    ("transformer-6", np.int64(39_841)),
]

WRONG = [
    ("transformer-1", [(64, 9), (4, 5, 9), (5, 423)], "a token is a row"),
    ("transformer-1", [(1, 9, 64), (1, 4, 5, 9), (1, 5, 423)], "axis for the batch"),
    ("transformer-1", [(5, 64), (4, 5, 9), (5, 423)], "decoder's length"),
    ("transformer-1", [(9, 64), (4, 9, 5), (5, 423)], "exchanged"),
    ("transformer-1", [(9, 64), (4, 5, 5), (5, 423)], "self-attention"),
    ("transformer-1", [(9, 64), (5, 9), (5, 423)], "one head"),
    ("transformer-1", [(9, 64), (4, 5, 9), (1, 423)], "one row"),
    ("transformer-1", [(9, 64), (4, 5, 9), (9, 423)], "no logits"),
    ("transformer-1", [(9, 64), (4, 5, 9)], "Three shapes"),
    ("transformer-1", (9, 64, 5), "Three shapes"),
    ("transformer-2", 172, "encoder layer"),
    ("transformer-2", 236, "norms are missing"),
    ("transformer-2", 216, "biases are missing"),
    ("transformer-2", 420, "once for each head"),
    ("transformer-2", 261, "Not this number"),
    ("transformer-3", "ABD", "correct model"),
    ("transformer-3", "BCD", "every model"),
    ("transformer-3", "BDE", "E is what"),
    ("transformer-3", "D", "One is missing"),
    ("transformer-3", "B", "Another"),
    ("transformer-4", lambda ids: (ids, ids), "Nothing is shifted"),
    ("transformer-4", lambda ids: shift(ids, answers="left"), "Shifted twice"),
    ("transformer-4", lambda ids: shift(ids, inputs="left"), "never predicted"),
    ("transformer-4", lambda ids: shift(ids, inputs="ids", answers="left"), "never predicted"),
    ("transformer-4", lambda ids: shift(ids, inputs="roll"), "came round"),
    ("transformer-4", lambda ids: shift(ids, first=0), "not <sos>"),
    ("transformer-4", lambda ids: shift(ids)[::-1], "wrong order"),
    ("transformer-4", lambda ids: (ids[:, :-1], ids[:, 1:]), "shapes are"),
    ("transformer-4", lambda ids: shift(ids)[0], "Two arrays"),
    ("transformer-5", (6, 7), "raise an error"),
    ("transformer-5", (7, 7), "encoder's attention"),
    ("transformer-5", (8, 7), "decoder's self-attention"),
    ("transformer-5", 8, "Two numbers"),
    ("transformer-6", 40_818, "65.0 million"),
    ("transformer-6", 39_840, "One too few"),
    ("transformer-6", 19_921, "twice"),
    ("transformer-6", 37_000, "Not this number"),
]


@pytest.mark.parametrize(("name", "answer"), RIGHT)
def test_right_answers_pass(name, answer):
    assert check(name, answer), check(name, answer)


@pytest.mark.parametrize(("name", "answer", "mistake"), WRONG)
def test_each_mistake_is_named(name, answer, mistake):
    verdict = check(name, answer)
    assert verdict.state == "wrong"
    assert mistake in verdict.text


@pytest.mark.parametrize("name", [f"transformer-{n}" for n in range(1, 7)])
def test_hints_do_not_give_the_answer(name):
    hints = [check(n, answer).hint for n, answer, _ in WRONG if n == name]
    assert not any(secret in hint for hint in hints for secret in ("260", "39,841", "(4, 5, 9)"))
    assert check(name).state == "open"
