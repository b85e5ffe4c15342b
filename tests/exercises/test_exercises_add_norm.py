"""The exercises of "Add & Norm": right answers pass; each typical mistake meets its own hint."""

from fractions import Fraction

import numpy as np
import pytest

from qkv.exercises import check
from qkv.numpy import layer_norm
from tests.helpers.exercises import ExerciseAnswers


def norm(x, gamma=1, beta=0, axis=-1, ddof=0, eps=1e-5, outside=0.0):
    centred = x - x.mean(axis=axis, keepdims=True)
    variance = x.var(axis=axis, keepdims=True, ddof=ddof)
    return gamma * centred / (np.sqrt(variance + eps) + outside) + beta


def pre(x, f, gamma, beta, **options):
    return x + f(norm(x, gamma, beta, **options))


def pre_stack(x, layers, gammas, betas, **options):
    for i, f in enumerate(layers):
        x = pre(x, f, gammas[i], betas[i], **options)
    return norm(x, gammas[-1], betas[-1], **options)


def post_stack(x, layers, gammas, betas):
    for f, g, b in zip(layers, gammas, betas, strict=False):
        x = norm(x + f(x), g, b)
    return x


def rms(x, gamma):
    return gamma * x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5)


def pre_in_place(x, f, gamma, beta):
    x += f(norm(x, gamma, beta))
    return x


def pre_with_f_twice(x, f, gamma, beta):
    f(x)
    return pre(x, f, gamma, beta)


def given(x, f, gamma, beta, axis=None, overwritten=True):
    """The function of exercise 3, with its two faults or one of them."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=axis, keepdims=True)
    read = gamma * centred / np.sqrt(variance + 1e-5) + beta
    return (read if overwritten else x) + f(read)


def stack_in_place(x, layers, gammas, betas):
    for f, g, b in zip(layers, gammas, betas, strict=False):
        x += f(norm(x, g, b))
    return norm(x, gammas[-1], betas[-1])


def stack_of_carried_norms(x, layers, gammas, betas):
    for f, g, b in zip(layers, gammas, betas, strict=False):
        x = norm(x, g, b)
        x = x + f(x)
    return norm(x, gammas[-1], betas[-1])


def stack_without_additions(x, layers, gammas, betas):
    for f, g, b in zip(layers, gammas, betas, strict=False):
        x = f(norm(x, g, b))
    return norm(x, gammas[-1], betas[-1])


def stack_by_squares(x, layers, gammas, betas):
    def by_squares(x, gamma, beta):
        mean = x.mean(axis=-1, keepdims=True)
        variance = (x * x).mean(axis=-1, keepdims=True) - mean**2
        return gamma * (x - mean) / np.sqrt(variance + 1e-5) + beta

    for f, g, b in zip(layers, gammas, betas, strict=False):
        x = x + f(by_squares(x, g, b))
    return by_squares(x, gammas[-1], betas[-1])


def step_by_squares(x, f, gamma, beta):
    mean = x.mean(axis=-1, keepdims=True)
    variance = (x * x).mean(axis=-1, keepdims=True) - mean**2
    return x + f(gamma * (x - mean) / np.sqrt(variance + 1e-5) + beta)


def stack_that_pops(x, layers, gammas, betas):
    for i in range(len(layers)):
        x = pre(x, layers.pop(0), gammas[i], betas[i])
    return norm(x, gammas[-1], betas[-1])


def stack_with_f_twice(x, layers, gammas, betas):
    layers[0](x)
    return pre_stack(x, layers, gammas, betas)


def stack_up_to_three_axes(x, layers, gammas, betas):
    if x.ndim > 3:
        raise ValueError("four axes")
    return pre_stack(x, layers, gammas, betas)


def stack_of_two(x, layers, gammas, betas):
    for i in range(min(2, len(layers))):
        x = pre(x, layers[i], gammas[i], betas[i])
    return norm(x, gammas[-1], betas[-1])


def stack_by_recursion(x, layers, gammas, betas):
    if not layers:
        return norm(x, gammas[0], betas[0])
    x = pre(x, layers[0], gammas[0], betas[0])
    return stack_by_recursion(x, layers[1:], gammas[1:], betas[1:])


def rms_in_place(x, gamma):
    x /= np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5)
    return x * gamma


FOUR = np.array([2.0, 4, 6, 8])
X, FOUND = np.array([1.0, 1, 5, 5]), np.array([1.0, 3, 1, 3])
GAMMA, BETA = np.array([1, 1, 2, 2]), np.array([0, 0, 0, 3])

RIGHT = {
    "add_norm-1": [-1.34, -0.45, 0.89, 5.68],
    "add_norm-2": [0.41, 0.25, 0.61],
    "add_norm-3": pre,
    "add_norm-4": pre_stack,
    "add_norm-5": rms,
    "add_norm-6": [-1, 0, 0.25],
    "add_norm-7": ([1, 4, 7], [3, 9, 15]),
}

WRONG = {
    "add_norm-1": {
        "no γ, no β": norm(FOUR),
        "no β": norm(FOUR) * GAMMA,
        "no γ": norm(FOUR) + BETA,
        "β first": GAMMA * (norm(FOUR) + BETA),
        "exchanged": GAMMA + BETA * norm(FOUR),
        "unbiased (pitfall 10)": GAMMA * norm(FOUR, ddof=1) + BETA,
        "divided by the root of the sum": GAMMA * (FOUR - 5) / np.sqrt(20) + BETA,
        "divided by the variance": GAMMA * (FOUR - 5) / 5 + BETA,
        "no mean": GAMMA * FOUR / np.sqrt(5) + BETA,
        "the sum": FOUR,
        "x alone": GAMMA * norm(X) + BETA,
        "f(x) alone": GAMMA * norm(FOUND) + BETA,
        "x + norm(f(x))": X + GAMMA * norm(FOUND) + BETA,
        "other": [0, 0, 0, 0],
        "three numbers": [1, 2, 3],
    },
    "add_norm-2": {
        "no roots": [0.17, 0.06, 0.37],
        "upside down": [2.44, 4, 1.64],
        "sizes added": [0.11, 0.06, 0.002],
        "the second alone": [0.41, np.nan, 0.61],
        "the third alone": [0.41, 0.25, 2**-24],
        "two numbers": [0.41, 0.25],
    },
    "add_norm-3": {
        "the axis alone is mended": lambda x, f, g, b: given(x, f, g, b, axis=-1),
        "the sum alone is mended": lambda x, f, g, b: given(x, f, g, b, overwritten=False),
        "unbiased": lambda x, f, g, b: pre(x, f, g, b, ddof=1),
        "summed": lambda x, f, g, b: pre(x, f, g, b).sum(axis=-1),
        "raises": lambda x, f: x,
        "in place": pre_in_place,
        "f twice": pre_with_f_twice,
        "float64 for float32": lambda x, f, g, b: pre(x, f, g, b).astype(float),
    },
    "add_norm-4": {
        "no final norm": lambda x, fs, g, b: pre(pre(x, fs[0], g[0], b[0]), fs[1], g[1], b[1]),
        "post-norm": post_stack,
        "post-norm, final norm": lambda x, fs, g, b: norm(post_stack(x, fs, g, b), g[-1], b[-1]),
        "normalised residual": stack_of_carried_norms,
        "no addition": stack_without_additions,
        "first γ and β": lambda x, fs, g, b: pre_stack(x, fs, g[[0, 0, 0]], b[[0, 0, 0]]),
        "reverse order": lambda x, fs, g, b: pre_stack(x, fs[::-1], g, b),
        "no γ, no β": lambda x, fs, g, b: pre_stack(x, fs, np.ones_like(g), np.zeros_like(b)),
        "unbiased": lambda x, fs, g, b: pre_stack(x, fs, g, b, ddof=1),
        "ε outside": lambda x, fs, g, b: pre_stack(x, fs, g, b, eps=0, outside=1e-5),
        "no ε": lambda x, fs, g, b: pre_stack(x, fs, g, b, eps=0),
        "over all axes": lambda x, fs, g, b: pre_stack(x, fs, g, b, axis=None),
        "summed": lambda x, fs, g, b: pre_stack(x, fs, g, b).sum(axis=-1),
        "other": lambda x, fs, g, b: 2 * pre_stack(x, fs, g, b),
        "raises": lambda x, fs: x,
        "in place": stack_in_place,
        "f twice": stack_with_f_twice,
        "float64 for float32": lambda x, fs, g, b: pre_stack(x, fs, g, b).astype(float),
        "mean of squares less squared mean": stack_by_squares,
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
        "in place": rms_in_place,
    },
    "add_norm-6": {
        "equal numbers, without γ": [1, 1, 1],
        "times γ": [-1, 0, 4],
        "zeros": [0, 0, 0],
        "a batch": [[1, 0, -1], [1, 2, 3]],
        "not finite": [1, 0, np.inf],
    },
    "add_norm-7": {
        "a multiple": ([1, 4, 7], [2, 8, 14]),
        "shifted": ([1, 4, 7], [2, 5, 8]),
        "the same": ([1, 4, 7], [1, 4, 7]),
        "equal numbers": ([1, 1, 1], [2, 2, 2]),
        "another order": ([1, 4, 8], [4, 8, 1]),
        "a negative factor": ([1, 4, 8], [9, 6, 2]),
        "other outputs": ([1, 4, 7], [1, 4, 8]),
        "too large": ([1, 4, 7], [1001, 1004, 1007]),
    },
}


ALSO_RIGHT = {
    "more decimals": ("add_norm-1", GAMMA * norm(FOUR) + BETA),
    "cut, not rounded": ("add_norm-1", np.float32([-1.34, -0.44, 0.89, 5.68])),
    "in an array": ("add_norm-7", np.array([[1, 4, 7], [3, 9, 15]])),
    "decimals": ("add_norm-7", [[1.5, 3, 20], [1.75, 2.5, 11]]),
    "a negative number": ("add_norm-7", ([-2, 0, 2], [1, 4, 7])),
    "Fractions": ("add_norm-2", [Fraction(256, 625), Fraction(1, 4), Fraction(48, 49) ** 24]),
    "float32, in a tuple": ("add_norm-2", tuple(np.float32([0.4096, 0.25, 0.6097]))),
    "cut": ("add_norm-2", [0.4096, 0.25, 0.609]),
    "package": ("add_norm-3", lambda x, f, g, b: x + f(layer_norm(x, g, b))),
    "std": (
        "add_norm-3",
        lambda x, f, g, b: (
            x + f((x - x.mean(-1)[..., None]) / (x.var(-1)[..., None] + 1e-5) ** 0.5 * g + b)
        ),
    ),
    "rows in lists": ("add_norm-4", lambda x, fs, g, b: pre_stack(x, fs, [*g], [*b])),
    "recursive": ("add_norm-4", stack_by_recursion),
    "equal numbers times γ": ("add_norm-6", [4, 2, 1]),
    "the sum of both directions": ("add_norm-6", [0, 0.5, 0.5]),
    "negative": ("add_norm-6", (4, 0, -1)),
    "in even steps, and right with γ": ("add_norm-6", [4, 3, 2]),
    "in even steps, halves": ("add_norm-6", [2, 1.5, 1]),
    "in even steps, negative": ("add_norm-6", [-4, -3, -2]),
    "a range": ("add_norm-6", range(4, 1, -1)),
    "two decimals": ("add_norm-6", [-1.22, 0, 0.31]),
    "fractions": ("add_norm-6", [Fraction(-1), 0, Fraction(1, 4)]),
    "far from 0 and right": ("add_norm-6", [10000, 5000.5, 2500.5]),
    "thirds to two digits": ("add_norm-6", [0.33, 0.33, 0.25]),
    "float32": ("add_norm-6", np.float32([-1.22, 0, 0.306])),
}

ALSO_WRONG = {
    "a multiple but for its last digit": ("add_norm-7", ([1, 2, 3], [2, 4, 6.0001])),
    "add_norm-2, one sub-layer too many": ("add_norm-2", [0.33, 0.25, 0.61]),
    "add_norm-2, one sub-layer": ("add_norm-2", [0.8, 0.25, 0.61]),
    "add_norm-2, 15 in the sum": ("add_norm-2", [0.41, 0.258, 0.61]),
    "add_norm-2, the third without roots": ("add_norm-2", [0.41, 0.25, 0.37]),
    "add_norm-3, as it was given": ("add_norm-3", given),
    "add_norm-3, over the tokens": (
        "add_norm-3",
        lambda x, f, g, b: given(x, f, g, b, axis=1, overwritten=False),
    ),
    "add_norm-3, post-norm": ("add_norm-3", lambda x, f, g, b: norm(x + f(x), g, b)),
    "add_norm-3, no addition": ("add_norm-3", lambda x, f, g, b: f(norm(x, g, b))),
    "add_norm-3, no ε": ("add_norm-3", lambda x, f, g, b: pre(x, f, g, b, eps=0)),
    "add_norm-4, two layers at most": ("add_norm-4", stack_of_two),
    "add_norm-4, not for four axes": ("add_norm-4", stack_up_to_three_axes),
    "the normalised vector, without γ": ("add_norm-6", [-1, 0, 1]),
    "x of the question": ("add_norm-6", [1, 4, 7]),
    "γ itself": ("add_norm-6", [1, 2, 4]),
    "not nearly equal": ("add_norm-6", [100, 51, 25]),
    "large, and not nearly equal": ("add_norm-6", [10000, 5003, 2500]),
    "small, one number": ("add_norm-6", [0.01, 0, 0]),
    "in even steps, wrong": ("add_norm-6", [3, 4, 5]),
    "a seventh": ("add_norm-6", [-1, 0, 0.3]),
    "nearly shifted": ("add_norm-7", ([1, 4, 7], [2, 5.01, 8.02])),
    "add_norm-3, mean of squares less squared mean": ("add_norm-3", step_by_squares),
    "add_norm-4, the list is emptied": ("add_norm-4", stack_that_pops),
    "nearly the same": ("add_norm-7", ([1, 4, 7], [1.0001, 4.0001, 7.0002])),
    "nearly the same output": ("add_norm-7", ([1, 50, 99], [1, 50.2, 99])),
    "one number": ("add_norm-6", [1, 0, 0]),
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong, also_wrong = RIGHT, ALSO_RIGHT, WRONG, ALSO_WRONG


@pytest.mark.parametrize("axis", [0, 1])
def test_a_norm_over_tokens_or_over_the_batch_is_refused(axis):
    def wrong(x, layers, gammas, betas):
        return pre_stack(x, layers, gammas, betas, axis=axis if x.ndim > axis + 1 else -1)

    verdict = check("add_norm-4", wrong)
    assert verdict.state == "wrong"
    assert "axis" in verdict.hint


def test_a_fault_that_is_left_is_told_by_what_it_shows():
    mixing = check("add_norm-3", lambda *args: given(*args, overwritten=False))
    overwritten = check("add_norm-3", lambda *args: given(*args, axis=-1))
    assert "moved" in mixing.text
    assert "is not x" in overwritten.text
