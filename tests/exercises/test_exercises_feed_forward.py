"""The exercises of "Feed-forward": right answers pass; each typical mistake meets its own hint."""

from itertools import pairwise

import numpy as np
import torch

from tests.helpers.exercises import ExerciseAnswers

AND = ([[1], [1], [0]], [-1], [[0, 0, 1]], [0, 0, 0])  # of exercise 4


def repaired(x, w_1, b_1, w_2, b_2):
    return np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2


def by_rows(x, w_1, b_1, w_2, b_2):
    rows = [[repaired(token, w_1, b_1, w_2, b_2) for token in sentence] for sentence in x]
    return np.array(rows)


def in_float32(x, *weights):
    return repaired(*(np.float32(a) for a in (x, *weights)))


def in_torch(x, *weights):
    return repaired_torch(*(torch.tensor(a) for a in (x, *weights)))


def repaired_torch(x, w_1, b_1, w_2, b_2):
    return torch.relu(x @ w_1 + b_1) @ w_2 + b_2


def shuffled(x, network):
    batch, length, width = x.shape
    return network.reshape(length, batch, width).swapaxes(0, 1)


def relu_at_the_end(x, w_1, b_1, w_2, b_2):
    return np.maximum(0, (x @ w_1 + b_1) @ w_2 + b_2)


RIGHT = {
    "feed_forward-1": [1, 3],
    "feed_forward-2": [1, -2, 1, 1],
    "feed_forward-3": "AD",
    "feed_forward-4": AND,
    "feed_forward-5": 0.632,
    "feed_forward-6": (repaired, 1),
    "feed_forward-7": 7,
    "feed_forward-8": 1365,
}
ALSO_RIGHT = {
    "a column": ("feed_forward-2", [[1], [-2], [1], [1]]),
    "a tuple of floats": ("feed_forward-2", (1.0, -2.0, 1.0, 1.0)),
    "in float32, W_2": ("feed_forward-2", np.float32([1, -2, 1, 1])),
    "one unit as plain lists": ("feed_forward-4", ([1, 1, 0], -1, [0, 0, 1], 0)),
    "biases as rows": ("feed_forward-4", ([[1], [1], [0]], [[-1]], [[0, 0, 1]], [[0, 0, 0]])),
    "steeper": ("feed_forward-4", ([[2], [2], [9]], [-3], [[0, 0, 1]], [0, 0, 0])),
    "decimals": ("feed_forward-4", [[[0.5], [0.5], [0]], [-0.5], [[0, 0, 2]], [0, 0, 0]]),
    "arrays in float32": ("feed_forward-4", tuple(np.float32(part) for part in AND)),
    "1 − max(0, 2 − sum) + max(0, 1 − sum)": (
        "feed_forward-4",
        ([[-1, -1], [-1, -1], [0, 0]], [2, 1], [[0, 0, -1], [0, 0, 1]], [0, 0, 1]),
    ),
    "in per cent": ("feed_forward-5", 63.2),
    "rounded": ("feed_forward-5", 0.63),
    "63 %": ("feed_forward-5", 63),
    "token by token": ("feed_forward-6", (by_rows, 1)),
    "float32": ("feed_forward-6", [in_float32, 1.0]),
    "torch": ("feed_forward-6", (in_torch, 1)),
    "a float": ("feed_forward-8", 1365.0),
}
WRONG = {
    "feed_forward-1": {
        "no activation": [-5, -3],
        "activation at the end": [0, 0],
        "no b_2": [1, 2],
        "no b_1": [2, 3],
        "no bias": [2, 2],
        "residual": [2, 5],
        "hidden": [2, 1, 0],
        "one number": 1,
        "other": [3, 1],
    },
    "feed_forward-2": {
        "the rises": [1, -1, 0, 1],
        "the outputs": [0, 1, 0, 0, 1],
        "the odd numbers": [1, -2, 2, -2],
        "outputs from 0 on": [0, 1, 0, 0],
        "three": [1, -2, 1],
    },
    "feed_forward-3": {
        "permuted": "ABD",
        "equal tokens": "ACD",
        "no A": "D",
        "no D": "a",
        "numbers": 13,
    },
    "feed_forward-4": {
        "or": ([[1], [1], [0]], [0], [[0, 0, 1]], [0, 0, 0]),
        "never": ([[1], [1], [0]], [-2], [[0, 0, 1]], [0, 0, 0]),
        "one is enough": ([[1], [2], [0]], [-1.5], [[0, 0, 1]], [0, 0, 0]),
        "transposed": ([[1, 1, 0]], [-1], [[0, 0, 1]], [0, 0, 0]),
        "no W_2": ([[1], [1], [0]], [-1], [0, 0, 0]),
        "writes elsewhere too": ([[1], [1], [0]], [-1], [[1, 0, 1]], [0, 0, 0]),
        "infinite": ([[1], [1], [0]], [-np.inf], [[0, 0, 1]], [0, 0, 0]),
        "a number": 3,
    },
    "feed_forward-5": {
        "of the layers": 2 / 3,
        "of attention": 1 / 3,
        "two attentions": 0.48,
        "of the layers in the model": 0.95,
        "one layer": 0.184,
        "other": 0.4,
    },
    "feed_forward-6": {
        "as it was": (lambda x, *w: shuffled(x, relu_at_the_end(x, *w)), 1),
        "ReLU at the end": (relu_at_the_end, 1),
        "outputs at other tokens": (lambda x, *w: shuffled(x, repaired(x, *w)), 1),
        "no ReLU": (lambda x, w_1, b_1, w_2, b_2: (x @ w_1 + b_1) @ w_2 + b_2, 1),
        "ReLU twice": (lambda x, *w: np.maximum(0, repaired(x, *w)), 1),
        "rows": (lambda x, *w: repaired(x, *w).reshape(-1, x.shape[-1]), 1),
        "two sentences": (repaired, 2),
        "no number": repaired,
        "no function": (3, 1),
    },
    "feed_forward-7": {
        "one matrix": 3,
        "no W_2": 4,
        "no b_1": 6,
        "all": 17,
        "b_2": 10,
        "of unit 2 too": 9,
        "other": 2,
    },
    "feed_forward-8": {
        "the same": 2048,
        "half": 1024,
        "rounded up": 1366,
        "reversed": 3072,
        "other": 4096,
    },
}
ALSO_WRONG = {
    "outputs from 1 on": ("feed_forward-2", [1, 0, 0, 1]),
    "one weight wrong": ("feed_forward-2", [1, -2, 1, 0]),
    "one number": ("feed_forward-2", 1),
    "the network of the chapter": ("feed_forward-6", repaired),
    "one unit as three numbers": ("feed_forward-4", [1, 1, -1]),
    "too weak": ("feed_forward-4", ([[1], [1], [0]], [-1.5], [[0, 0, 1]], [0, 0, 0])),
    "66.7 %": ("feed_forward-5", 66.7),
    "half a point off": ("feed_forward-5", 0.645),
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong, also_wrong = RIGHT, ALSO_RIGHT, WRONG, ALSO_WRONG


def test_the_network_of_exercise_1():
    x, w_1, b_1 = np.array([1, 2]), np.array([[1, -1, 2], [1, 1, -2]]), np.array([-1, 0, 0])
    w_2, b_2 = np.array([[1, 0], [-1, 2], [3, 3]]), np.array([0, 1])
    np.testing.assert_array_equal(np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2, [1, 3])
    np.testing.assert_array_equal((x @ w_1 + b_1) @ w_2 + b_2, [-5, -3])


def test_what_a_dead_unit_loses():
    """7 numbers of 17, if no entry of a token is 0 and unit 2 is active for some."""
    rng = np.random.default_rng(0)
    w_1, w_2 = rng.normal(size=(3, 2)), rng.normal(size=(2, 3))
    x = rng.uniform(-0.5, 0.5, (9, 3))
    hidden = np.maximum(0, x @ w_1 + [-5, 0])
    dout = rng.normal(size=(len(x), 3))
    dhidden = dout @ w_2.T * (hidden > 0)
    gradients = x.T @ dhidden, dhidden.sum(0), hidden.T @ dout, dout.sum(0)
    assert sum(int((g == 0).sum()) for g in gradients) == 7


def test_with_a_residual_connection_one_unit_is_enough_for_xor():
    wants, has = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])
    both = np.maximum(0, wants + has - 1)
    np.testing.assert_array_equal(wants + has - 2 * both, [0, 1, 0, 1])


def test_which_answers_one_layer_norm_gives():
    """Along a line, answers with up to two changes are reached; none with more is."""
    rng = np.random.default_rng(0)
    n = np.arange(5.0)
    found = set()
    for _ in range(4000):
        slope, start, reads = rng.normal(size=(3, 6))
        z = n[:, None] * slope + 2 * start  # (5, 6): affine in n
        normed = (z - z.mean(1, keepdims=True)) / z.std(1, keepdims=True)
        yes = normed @ reads + 2 * rng.normal() > 0
        found.add("".join(str(int(y)) for y in yes))
    changes = {p: sum(a != b for a, b in pairwise(p)) for p in found}
    assert max(changes.values()) == 2
    assert {"00111", "10001", "11110"} <= found


def test_gpt_2_xl():
    d, layers, table = 1600, 48, 50_257
    share = layers * 8 * d**2 / (layers * 12 * d**2 + table * d)
    np.testing.assert_allclose(share, 0.632, atol=5e-4)
