"""The exercises of "Add & Norm": right answers pass; each typical mistake meets its own hint."""

import numpy as np
import pytest

from qkv.exercises import check
from tests.helpers.exercises import ExerciseAnswers


def norm(x, gamma=1, beta=0, axis=-1, ddof=0, eps=1e-5, outside=0.0):
    centred = x - x.mean(axis=axis, keepdims=True)
    variance = x.var(axis=axis, keepdims=True, ddof=ddof)
    return gamma * centred / (np.sqrt(variance + eps) + outside) + beta


def pre(x, f, gamma, beta, **options):
    return x + f(norm(x, gamma, beta, **options))


def rms(x, gamma):
    return gamma * x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5)


def pre_in_place(x, f, gamma, beta):
    x += f(norm(x, gamma, beta))
    return x


def pre_with_f_twice(x, f, gamma, beta):
    f(x)
    return pre(x, f, gamma, beta)


def pre_by_squares(x, f, gamma, beta):
    mean = x.mean(axis=-1, keepdims=True)
    variance = (x * x).mean(axis=-1, keepdims=True) - mean**2
    return x + f(gamma * (x - mean) / np.sqrt(variance + 1e-5) + beta)


FOUR = np.array([2.0, 4, 6, 8])
GAMMA, BETA = np.array([1, 1, 2, 2]), np.array([0, 0, 0, 3])

RIGHT = {
    "add_norm-1": [-1.34, -0.45, 0.89, 5.68],
    "add_norm-2": ([1, 4, 7], [2, 5, 8]),
    "add_norm-3": "AD",
    "add_norm-4": pre,
    "add_norm-5": rms,
    "add_norm-6": [-1, 0, 1],
}

WRONG = {
    "add_norm-1": {
        "no γ, no β": norm(FOUR),
        "no β": norm(FOUR) * GAMMA,
        "no γ": norm(FOUR) + BETA,
        "β first": GAMMA * (norm(FOUR) + BETA),
        "exchanged": GAMMA + BETA * norm(FOUR),
        "unbiased (pitfall 10)": GAMMA * norm(FOUR, ddof=1) + BETA,
        "divided by the variance": GAMMA * (FOUR - 5) / 5 + BETA,
        "no mean": GAMMA * FOUR / np.sqrt(5) + BETA,
        "other": [0, 0, 0, 0],
        "three numbers": [1, 2, 3],
    },
    "add_norm-2": {
        "a multiple": ([1, 4, 7], [2, 8, 14]),
        "the same": ([1, 4, 7], [1, 4, 7]),
        "equal numbers": ([1, 1, 1], [2, 2, 2]),
        "another order": ([1, 4, 8], [4, 8, 1]),
        "a negative factor": ([1, 4, 8], [9, 6, 2]),
        "other outputs": ([1, 4, 7], [1, 4, 8]),
        "too large": ([1, 4, 7], [1001, 1004, 1007]),
    },
    "add_norm-3": {
        "its own output": "ABD",
        "what LayerNorm does": "ACD",
        "plus 1": "ADE",
        "no A": "D",
        "no D": "A",
        "numbers": 13,
    },
    "add_norm-4": {
        "post-norm": lambda x, f, g, b: norm(x + f(x), g, b),
        "normalised residual": lambda x, f, g, b: norm(x, g, b) + f(norm(x, g, b)),
        "no addition": lambda x, f, g, b: f(norm(x, g, b)),
        "no f": lambda x, f, g, b: x + norm(x, g, b),
        "no norm": lambda x, f, g, b: x + f(x),
        "no γ, no β": lambda x, f, g, b: x + f(norm(x)),
        "γ and β after f": lambda x, f, g, b: x + g * f(norm(x)) + b,
        "no β": lambda x, f, g, b: x + f(norm(x, g)),
        "unbiased": lambda x, f, g, b: pre(x, f, g, b, ddof=1),
        "ε outside": lambda x, f, g, b: pre(x, f, g, b, eps=0, outside=1e-5),
        "no ε": lambda x, f, g, b: pre(x, f, g, b, eps=0),
        "over all axes": lambda x, f, g, b: pre(x, f, g, b, axis=None),
        "summed": lambda x, f, g, b: pre(x, f, g, b).sum(axis=-1),
        "other": lambda x, f, g, b: 2 * pre(x, f, g, b),
        "raises": lambda x, f: x,
        "in place": pre_in_place,
        "f twice": pre_with_f_twice,
        "float64 for float32": lambda x, f, g, b: pre(x, f, g, b).astype(float),
        "mean of squares less squared mean": pre_by_squares,
    },
    "add_norm-5": {
        "LayerNorm": lambda x, g: norm(x, g),
        "variance": lambda x, g: g * x / np.sqrt(x.var(-1, keepdims=True) + 1e-5),
        "no γ": lambda x, g: rms(x, 1),
        "a sum of squares": lambda x, g: g * x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-5),
        "ε outside": lambda x, g: g * x / (np.sqrt((x * x).mean(-1, keepdims=True)) + 1e-5),
        "no ε": lambda x, g: g * x / np.sqrt((x * x).mean(-1, keepdims=True)),
        "one for all": lambda x, g: g * x / np.sqrt((x * x).mean() + 1e-5),
        "no axis kept": lambda x, g: rms(x, g).mean(axis=-1),
        "other": lambda x, g: rms(x, g) + 1,
        "float64 for float32": lambda x, g: rms(x, g).astype(float),
    },
    "add_norm-6": {
        "equal numbers": [1, 1, 1],
        "zeros": [0, 0, 0],
        "x and a half": [1, 4, 8],
        "a batch": [[1, 0, -1], [1, 2, 3]],
        "not finite": [1, 0, np.inf],
    },
}


ALSO_RIGHT = {
    "more decimals": ("add_norm-1", GAMMA * norm(FOUR) + BETA),
    "cut, not rounded": ("add_norm-1", np.float32([-1.34, -0.44, 0.89, 5.68])),
    "shifted and scaled": ("add_norm-2", np.array([[1, 4, 7], [3, 9, 15]])),
    "shifted, decimals": ("add_norm-2", [[1.5, 3, 20], [2.5, 4, 21]]),
    "std": (
        "add_norm-4",
        lambda x, f, g, b: (
            x + f((x - x.mean(-1)[..., None]) / (x.var(-1)[..., None] + 1e-5) ** 0.5 * g + b)
        ),
    ),
    "by loops": (
        "add_norm-4",
        lambda x, f, g, b: x + f(np.apply_along_axis(lambda row: norm(row, g, b), -1, x)),
    ),
    "the sum of both directions": ("add_norm-6", [0, 1, 2]),
    "far from 0 and right": ("add_norm-6", [1000, 1002, 1004]),
    "thirds to two digits": ("add_norm-6", [0.33, 0.67, 1]),
    "float32": ("add_norm-6", np.float32([-1.22, 0, 1.22])),
}

ALSO_WRONG = {
    "a multiple but for its last digit": ("add_norm-2", ([1, 2, 3], [2, 4, 6.0001])),
    "far from 0": ("add_norm-6", [1000, 1002, 1001]),
    "far from 0, hardly varied": ("add_norm-6", [500, 501, 500]),
    "near each other": ("add_norm-6", [10, 10.02, 10.01]),
    "nearly the same": ("add_norm-2", ([1, 4, 7], [1.0001, 4.0001, 7.0002])),
    "nearly the same output": ("add_norm-2", ([1, 50, 99], [1, 50.2, 99])),
    "one number": ("add_norm-6", [1, 0, 0]),
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong, also_wrong = RIGHT, ALSO_RIGHT, WRONG, ALSO_WRONG


@pytest.mark.parametrize("axis", [0, 1])
def test_a_norm_over_tokens_or_over_the_batch_is_refused(axis):
    def wrong(x, f, gamma, beta):
        return pre(x, f, gamma, beta, axis=axis if x.ndim > axis + 1 else -1)

    verdict = check("add_norm-4", wrong)
    assert verdict.state == "wrong"
    assert "axis" in verdict.hint
