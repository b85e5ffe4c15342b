"""The exercises of "Where am I?": right answers pass; each typical mistake meets its own hint."""

import math

import numpy as np

import qkv.numpy as qn
from qkv.exercises.positional import encoder, one_order_passes, waves
from tests.helpers.exercises import ExerciseAnswers


def build(positions, d_model, base):
    angle = positions[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
    out = np.zeros((len(positions), d_model))
    out[:, 0::2], out[:, 1::2] = np.sin(angle), np.cos(angle)
    return out


def by_column(positions, d_model, base):
    angle = positions[:, None] / base ** (np.arange(d_model) / d_model)
    return np.where(np.arange(d_model) % 2 == 0, np.sin(angle), np.cos(angle))


def exponent_times(factor):
    return lambda p, d, b: waves(p, d, np.arange(0, d, 2) * factor, b)


def halves(positions, d_model, base):
    out = build(positions, d_model, base)
    return np.concatenate([out[:, 0::2], out[:, 1::2]], axis=1)


ORDERS = [1, 2, 3, 4, 5, 0], [1, 3, 5, 0, 2, 4], [5, 4, 3, 2, 1, 0]


def blind(encode, x, tolerance=1e-4, orders=ORDERS):
    return all(
        np.allclose(encode(x[:, o]), encode(x)[:, o], rtol=0, atol=tolerance) for o in orders
    )


def blind_in(*orders):
    return lambda encode, x: blind(encode, x, orders=[list(order) for order in orders])


def alike(encode, x, move):
    return np.allclose(encode(move(x)), move(encode(x)), atol=1e-4)


def moved_by(move):
    return lambda encode, x: alike(encode, x, move)


def mended(x):
    return x + waves(x.shape[1], x.shape[2])


def as_handed_over(x):
    B, T, d_model = x.shape
    return (x.reshape(B * T, d_model) + waves(B * T, d_model)).reshape(B, T, d_model)


def part_of(cut):
    """A test that compares `cut` of the outputs, in several orders."""
    return lambda encode, x: all(
        np.allclose(cut(encode(x[:, o])), cut(encode(x)[:, o]), atol=1e-4) for o in ORDERS
    )


STEP = [0.6 * math.cos(1) + 0.8 * math.sin(1), 0.8 * math.cos(1) - 0.6 * math.sin(1), math.cos(1)]
BACK = [0.6 * math.cos(1) - 0.8 * math.sin(1), 0.8 * math.cos(1) + 0.6 * math.sin(1), math.cos(1)]


def shift(k, d_model, sign=1, speed=None):
    matrix = np.zeros((d_model, d_model))
    for i in range(d_model // 2):
        angle = k * (10000 ** (-2 * i / d_model) if speed is None else speed)
        c, s = math.cos(angle), sign * math.sin(angle)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, s], [-s, c]]
    return matrix


def from_a_table(k, d_model):
    rows, k = waves(50, d_model), int(k)
    return np.linalg.lstsq(rows[5:30], rows[5 + k : 30 + k], rcond=None)[0].T


def rows_of_the_package(positions, d_model, base):
    rows = qn.sinusoidal_encoding(int(positions.max()) + 1, d_model, dtype=np.float64)
    return rows[positions.astype(int)]


RIGHT = {
    "positional-1": [math.sin(23), math.cos(23), math.sin(0.23), math.cos(0.23)],
    "positional-2": "BC",
    "positional-3": build,
    "positional-4": STEP,
    "positional-5": mended,
    "positional-6": blind,
    "positional-7": [3, -3],
    "positional-8": shift,
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
        "cosine first": lambda p, d, b: build(p, d, b)[:, np.arange(d) ^ 1],
        "from 1": lambda p, d, b: build(p + 1, d, b),
        "the first rows": lambda p, d, b: build(np.arange(len(p)), d, b),
        "transposed": lambda p, d, b: build(p, d, b).T,
        "base 1000": lambda p, d, b: waves(p, d, np.arange(0, d, 2) * 0.75, b),
        "always 10,000": lambda p, d, b: build(p, d, 10_000),
    },
    "positional-4": {
        "turned back": BACK,
        "cosine first": [STEP[1], STEP[0], STEP[2]],
        "added": [0.6 + math.sin(1), 0.8 + math.cos(1), 0.54],
        "entry by entry": [0.6 * math.sin(1), 0.8 * math.cos(1), 0.54],
        "position 1": [math.sin(1), math.cos(1), 0.54],
        "one degree": [0.614, 0.789, 1.0],
        "the old hand": [0.6, 0.8, 1],
        "the dot product is 1": [*STEP[:2], 1],
        "no dot product": STEP[:2],
    },
    "positional-5": {
        "as it was handed over": as_handed_over,
        "the batch axis": lambda x: x + waves(len(x), x.shape[2])[:, None],
        "row 0": lambda x: x + waves(1, x.shape[2]),
        "repeated": lambda x: (
            x + np.repeat(waves(x.shape[1], x.shape[2]), len(x), axis=0).reshape(x.shape)
        ),
        "nothing": lambda x: x,
        "the rows alone": lambda x: waves(x.shape[1], x.shape[2]),
    },
    "positional-6": {
        "swapped": lambda encode, x: not blind(encode, x),
        "not moved back": lambda encode, x: np.allclose(encode(np.roll(x, 1, 1)), encode(x)),
        "the batch axis": moved_by(lambda x: np.roll(x, 1, axis=0)),
        "reversed": moved_by(lambda x: x[:, ::-1]),
        "the last two": moved_by(lambda x: x[:, [0, 1, 2, 3, 5, 4]]),
        "the first sentence alone": lambda encode, x: blind(lambda z: encode(z)[:1], x),
        "a sum": lambda encode, x: blind(lambda z: encode(z).sum(-1, keepdims=True), x),
        "a length": lambda encode, x: blind(lambda z: (encode(z) ** 2).sum(-1, keepdims=True), x),
        "one step along": moved_by(lambda x: np.roll(x, 1, axis=1)),
        "the first output alone": part_of(lambda y: y[:, 0]),
        "the first column alone": part_of(lambda y: y[..., 0]),
        "sorted tokens": part_of(lambda y: np.sort(y, axis=1)),
        "a sum over the batch": part_of(lambda y: y.sum(axis=0)),
        "one order": blind_in([1, 3, 5, 0, 2, 4]),
        "too coarse": lambda encode, x: blind(encode, x, tolerance=0.05),
    },
    "positional-7": {
        "no rotation": [0, 0],
        "turned back": [-3, 3],
        "distance alone": [3, 3],
        "sine": [6 * math.sin(math.radians(60)), -6 * math.sin(math.radians(60))],
        "radians": [6 * math.cos(60), 6 * math.cos(120)],
        "cosine alone": [0.5, -0.5],
        "other": [1.5, 2],
        "one number": 3,
    },
    "positional-8": {
        "transposed": lambda k, d: shift(k, d, sign=-1),
        "one speed": lambda k, d: shift(k, d, speed=1),
        "identity": lambda k, d: np.eye(d),
        "another size": lambda k, d: np.eye(d + 1),
    },
}


ALSO_RIGHT = {
    "two decimals": ("positional-1", [-0.85, -0.53, 0.23, 0.97]),
    "a row of a table": ("positional-1", [[-0.85, -0.53, 0.23, 0.97]]),
    "with and": ("positional-2", "B and C"),
    "with a slash": ("positional-2", "C/B"),
    "a list of letters": ("positional-2", ["B", "C"]),
    "a list of rows": ("positional-3", lambda p, d, b: build(p, d, b).tolist()),
    "float32": (
        "positional-3",
        lambda p, d, b: build(p.astype(np.float32), d, b).astype(np.float32),
    ),
    "one number at a time": (
        "positional-3",
        lambda p, d, b: [
            [(math.sin, math.cos)[j % 2](q / b ** ((j - j % 2) / d)) for j in range(d)] for q in p
        ],
    ),
    "with 0.84 and 0.54": ("positional-4", (0.996, -0.072, 0.54)),
    "two places": ("positional-4", [1.0, -0.07, 0.54]),
    "rows repeated for each sentence": (
        "positional-5",
        lambda x: (
            x.reshape(-1, x.shape[2]) + np.tile(waves(x.shape[1], x.shape[2]), (len(x), 1))
        ).reshape(x.shape),
    ),
    "float32 rows": ("positional-5", lambda x: mended(x.astype(np.float32))),
    "several shuffles": (
        "positional-6",
        lambda encode, x: all(
            alike(encode, x, lambda z, o=o: z[:, o])
            for o in (np.random.default_rng(s).permutation(x.shape[1]) for s in range(9))
        ),
    ),
    "a shift and one swap": ("positional-6", blind_in([1, 2, 3, 4, 5, 0], [1, 0, 2, 3, 4, 5])),
    "the whole batch, then each sentence": (
        "positional-6",
        lambda encode, x: blind(encode, x) and blind(encode, x[:1]),
    ),
}

ALSO_WRONG = {
    "rows of the package's table": ("positional-3", rows_of_the_package),
    "float32 that is 0.009 off": (
        "positional-3",
        lambda p, d, b: (build(p, d, b) + 0.009).astype(np.float32),
    ),
    "scaled": ("positional-5", lambda x: 2 * mended(x)),
    "one number a sentence": ("positional-6", part_of(lambda y: y[:, :1, :1])),
    "all numbers sorted": ("positional-6", part_of(lambda y: np.sort(y, axis=None))),
    "pairs swapped": ("positional-6", blind_in([1, 0, 3, 2, 5, 4])),
    "one long cycle": ("positional-6", blind_in([2, 4, 5, 1, 3, 0])),
    "reversal and a shift": ("positional-6", blind_in([5, 4, 3, 2, 1, 0], [1, 2, 3, 4, 5, 0])),
    "from a table": ("positional-8", from_a_table),
    "exact": ("positional-6", lambda encode, x: blind(encode, x, tolerance=0)),
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


def test_no_single_order_finds_every_encoder_that_sees_the_order():
    rng, x = np.random.default_rng(1), np.random.default_rng(0).normal(size=(1, 6, 8))
    planted = [(encode, encode(x)) for encode in one_order_passes()]
    orders = [rng.permutation(6) for _ in range(40)]
    for order in orders:
        assert any(np.allclose(encode(x[:, order]), out[:, order]) for encode, out in planted)
    for encode, out in planted:
        assert not all(np.allclose(encode(x[:, o]), out[:, o]) for o in orders)
