"""The exercises of "Where am I?": right answers pass; each typical mistake meets its own hint."""

import math

import numpy as np

import qkv.numpy as qn
from qkv.exercises.positional import encoder, waves
from tests.helpers.exercises import ExerciseAnswers


def build(positions, d_model):
    angle = positions[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    out = np.zeros((len(positions), d_model))
    out[:, 0::2], out[:, 1::2] = np.sin(angle), np.cos(angle)
    return out


def by_column(positions, d_model):
    angle = positions[:, None] / 10000 ** (np.arange(d_model) / d_model)
    return np.where(np.arange(d_model) % 2 == 0, np.sin(angle), np.cos(angle))


def exponent_times(factor):
    return lambda p, d: waves(p, d, np.arange(0, d, 2) * factor)


def halves(positions, d_model):
    out = build(positions, d_model)
    return np.concatenate([out[:, 0::2], out[:, 1::2]], axis=1)


ORDERS = [1, 2, 3, 4, 5, 0], [1, 3, 5, 0, 2, 4], [5, 4, 3, 2, 1, 0]


def blind(encode, x, tolerance=1e-4):
    return all(
        np.allclose(encode(x[:, o]), encode(x)[:, o], rtol=0, atol=tolerance) for o in ORDERS
    )


def alike(encode, x, move):
    return np.allclose(encode(move(x)), move(encode(x)), atol=1e-4)


def moved_by(move):
    return lambda encode, x: alike(encode, x, move)


def shift(k, d_model, sign=1, speed=None):
    matrix = np.zeros((d_model, d_model))
    for i in range(d_model // 2):
        angle = k * (10000 ** (-2 * i / d_model) if speed is None else speed)
        c, s = math.cos(angle), sign * math.sin(angle)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, s], [-s, c]]
    return matrix


RIGHT = {
    "positional-1": [math.sin(23), math.cos(23), math.sin(0.23), math.cos(0.23)],
    "positional-2": "BC",
    "positional-3": build,
    "positional-4": blind,
    "positional-5": [3, -3],
    "positional-6": shift,
}

rad = math.radians(23)
WRONG = {
    "positional-1": {
        "degrees": [math.sin(rad), math.cos(rad), math.sin(rad / 100), math.cos(rad / 100)],
        "i counts columns": [math.sin(23), math.cos(2.3), math.sin(0.23), math.cos(0.023)],
        "2i doubled": [math.sin(23), math.cos(23), math.sin(23e-4), math.cos(23e-4)],
        "halves": waves(24, 4)[23][[0, 2, 1, 3]],
        "cosine first": waves(24, 4)[23][[1, 0, 3, 2]],
        "position 22": waves(23, 4)[22],
        "position 24": waves(25, 4)[24],
        "two numbers": [math.sin(23), math.cos(23)],
        "other": [0, 0, 0, 0],
    },
    "positional-2": {
        "what no position does": "ABC",
        "another word": "BCD",
        "the average": "BCE",
        "no B": "C",
        "no C": "B",
        "numbers": 12,
    },
    "positional-3": {
        "i counts columns": by_column,
        "2i doubled": exponent_times(2),
        "2 forgotten": exponent_times(0.5),
        "halves": halves,
        "cosine first": lambda p, d: build(p, d)[:, np.arange(d) ^ 1],
        "from 1": lambda p, d: build(p + 1, d),
        "the first rows": lambda p, d: build(np.arange(len(p)), d),
        "transposed": lambda p, d: build(p, d).T,
        "base 1000": lambda p, d: waves(p, d, np.arange(0, d, 2) * 0.75),
    },
    "positional-4": {
        "swapped": lambda encode, x: not blind(encode, x),
        "not moved back": lambda encode, x: np.allclose(encode(np.roll(x, 1, 1)), encode(x)),
        "the batch axis": moved_by(lambda x: np.roll(x, 1, axis=0)),
        "reversed": moved_by(lambda x: x[:, ::-1]),
        "the last two": moved_by(lambda x: x[:, [0, 1, 2, 3, 5, 4]]),
        "the first sentence alone": lambda encode, x: blind(lambda z: encode(z)[:1], x),
        "a sum": lambda encode, x: blind(lambda z: encode(z).sum(-1, keepdims=True), x),
        "a length": lambda encode, x: blind(lambda z: (encode(z) ** 2).sum(-1, keepdims=True), x),
        "one step along": moved_by(lambda x: np.roll(x, 1, axis=1)),
        "too coarse": lambda encode, x: blind(encode, x, tolerance=0.05),
    },
    "positional-5": {
        "no rotation": [0, 0],
        "turned back": [-3, 3],
        "distance alone": [3, 3],
        "sine": [6 * math.sin(math.radians(60)), -6 * math.sin(math.radians(60))],
        "radians": [6 * math.cos(60), 6 * math.cos(120)],
        "cosine alone": [0.5, -0.5],
        "other": [1.5, 2],
        "one number": 3,
    },
    "positional-6": {
        "transposed": lambda k, d: shift(k, d, sign=-1),
        "one speed": lambda k, d: shift(k, d, speed=1),
        "identity": lambda k, d: np.eye(d),
        "another size": lambda k, d: np.eye(d + 1),
    },
}


ALSO_RIGHT = {
    "two decimals": ("positional-1", [-0.85, -0.53, 0.23, 0.97]),
    "rows of a table": (
        "positional-3",
        lambda p, d: qn.sinusoidal_encoding(p.max() + 1, d, dtype=np.float64)[p],
    ),
    "a list of rows": ("positional-3", lambda p, d: build(p, d).tolist()),
    "float32": ("positional-3", lambda p, d: build(p.astype(np.float32), d).astype(np.float32)),
    "several shuffles": (
        "positional-4",
        lambda encode, x: all(
            alike(encode, x, lambda z, o=o: z[:, o])
            for o in (np.random.default_rng(s).permutation(x.shape[1]) for s in range(9))
        ),
    ),
    "the whole batch, then each sentence": (
        "positional-4",
        lambda encode, x: blind(encode, x) and blind(encode, x[:1]),
    ),
}

ALSO_WRONG = {
    "exact": ("positional-4", lambda encode, x: blind(encode, x, tolerance=0)),
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong, also_wrong = RIGHT, ALSO_RIGHT, WRONG, ALSO_WRONG


def test_the_encoders_are_what_their_names_say():
    x = np.random.default_rng(0).normal(size=(2, 6, 8))
    order = [5, 3, 1, 0, 4, 2]
    assert np.allclose(encoder()(x[:, order]), encoder()(x)[:, order])
    ours = qn.scaled_dot_product_attention(x, x, x)[0]
    assert np.allclose(encoder()(x), ours)
    assert not np.allclose(encoder(waves(6, 8))(x[:, order]), encoder(waves(6, 8))(x)[:, order])
