"""The exercises of "Feed-forward": right answers pass; each typical mistake meets its own hint."""

import numpy as np

from tests.helpers.exercises import ExerciseAnswers

RIGHT = {
    "feed_forward-1": [1, 3],
    "feed_forward-2": [-2, 0],
    "feed_forward-3": "AD",
    "feed_forward-4": [1, 1, -1],
    "feed_forward-5": 7,
    "feed_forward-6": 1365,
}
ALSO_RIGHT = {
    "exactly 0": ("feed_forward-2", [-1, 0]),
    "a lower bias": ("feed_forward-2", np.array([-7.5, 0])),
    "steeper": ("feed_forward-4", [2, 3, -4]),
    "halves": ("feed_forward-4", (1.0, 2.0, -2.0)),
    "float32 weights": ("feed_forward-4", np.array([1, 1, -1], np.float32)),
    "a float": ("feed_forward-6", 1365.0),
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
        "exchanged": [0, -1],
        "too small": [-0.5, 0],
        "unit 2 higher": [-1, 1],
        "one for each verb": [-1, 0, 0, 0],
        "infinite": [-np.inf, 0],
    },
    "feed_forward-3": {
        "permuted": "ABD",
        "equal tokens": "ACD",
        "no A": "D",
        "no D": "a",
        "numbers": 13,
    },
    "feed_forward-4": {
        "or": [1, 1, 0],
        "neither": [-1, -1, 1],
        "never": [1, -1, -1],
        "one is enough": [1, 2, -1.5],
        "too weak": [1, 1, -1.5],
        "no bias": [1, 1],
    },
    "feed_forward-5": {
        "one matrix": 3,
        "no W_2": 4,
        "no b_1": 6,
        "all": 17,
        "b_2": 10,
        "the four verbs": 9,
        "other": 2,
    },
    "feed_forward-6": {
        "the same": 2048,
        "half": 1024,
        "rounded up": 1366,
        "reversed": 3072,
        "other": 4096,
    },
}

ALSO_WRONG = {
    "up": ("feed_forward-2", [1, 0]),
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong, also_wrong = RIGHT, ALSO_RIGHT, WRONG, ALSO_WRONG


def test_the_network_of_exercise_1():
    x, w_1, b_1 = np.array([1, 2]), np.array([[1, -1, 2], [1, 1, -2]]), np.array([-1, 0, 0])
    w_2, b_2 = np.array([[1, 0], [-1, 2], [3, 3]]), np.array([0, 1])
    np.testing.assert_array_equal(np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2, [1, 3])
    np.testing.assert_array_equal((x @ w_1 + b_1) @ w_2 + b_2, [-5, -3])


def test_what_a_dead_unit_loses():
    """7 numbers for general inputs; for the four verbs alone, two more: those of exercise 5."""
    rng = np.random.default_rng(0)
    w_1, w_2 = np.array([[1.0, -1], [-1, 1], [0, 0]]), np.array([[0, 0, 1.0], [0, 0, 1]])
    verbs = np.array([[0.0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]])
    for x, zeros in ((rng.uniform(-0.5, 0.5, (9, 3)), 7), (verbs, 9)):
        hidden = np.maximum(0, x @ w_1 + [-2, 0])
        dout = rng.normal(size=(len(x), 3))
        dhidden = dout @ w_2.T * (hidden > 0)
        gradients = x.T @ dhidden, dhidden.sum(0), hidden.T @ dout, dout.sum(0)
        assert sum(int((g == 0).sum()) for g in gradients) == zeros


def test_with_a_residual_connection_one_unit_is_enough_for_xor():
    wants, has = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])
    both = np.maximum(0, wants + has - 1)
    np.testing.assert_array_equal(wants + has - 2 * both, [0, 1, 0, 1])
