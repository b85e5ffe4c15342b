"""The scaling chapter's checks: right answers pass, and each likely mistake meets its own hint."""

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
import torch

from qkv.exercises import check
from qkv.explore.scaling import effective_tokens
from qkv.numpy import scaled_dot_product_attention, softmax
from tests.helpers.exercises import ExerciseAnswers

rng = np.random.default_rng(0)
SIGNS = np.where(rng.random((8, 64)) < 0.5, -1.0, 1.0)
OWN_KEY = (SIGNS[:1], SIGNS)
HALF = SIGNS.copy()
HALF[0, :10] *= -1  # 54 of 64 entries agree with the query: score 5.5


THIRD = SIGNS.copy()
THIRD[0, :14] *= -1  # 50 of 64 agree


def bisect(goal, low=1e-4, high=1e4):
    """A solver for scaling-10 that brings goal(weights) to the target."""
    ends = low, high

    def temperature(scores, target):
        low, high = ends
        for _ in range(200):
            middle = math.sqrt(low * high)
            if goal(softmax(scores / middle)) < target:
                low = middle
            else:
                high = middle
        return low

    return temperature


def bits(weights):
    return float(np.log2(effective_tokens(weights)))


def with_nan(weights):
    return 2 ** -(weights * np.log2(weights)).sum()


solve = bisect(effective_tokens)


def one_sign(rng, n, equal=64):
    """The first `equal` entries of a vector are one number, the others are independent."""
    q, k = rng.choice([-1.0, 1.0], size=(2, n, 64))
    q[:, :equal], k[:, :equal] = q[:, :1], k[:, :1]
    return q, k


def own_key_of_one_sign(rng, n):
    q = rng.choice([-1.0, 1.0], size=(n, 1)) * np.ones(64)
    return q, q


def barely_any(rng, n):
    """Pairs of coordinates cancel: the score is 0, but for two coordinates."""
    q, k = rng.choice([-1.0, 1.0], size=(2, n, 64))
    q[:, 1:32], k[:, 1:32] = q[:, 33:], -k[:, 33:]
    return q, k


def sparse_own_key(rng, n):
    filled = (rng.random((n, 64)) < 1 / 20) * rng.choice([-1.0, 1.0], size=(n, 64))
    return (filled * math.sqrt(20),) * 2


def sparse_rows(rng, n):
    """Rows of 0, and now and then a large one, in q and k together: variance 1 still."""
    size = (rng.random((n, 1)) < 1 / 20) * math.sqrt(20)
    q, k = rng.choice([-1.0, 1.0], size=(2, n, 64))
    return size * q, size * k


def unbiased(q, k):
    scores = q @ np.swapaxes(k, -1, -2)
    return float(1 / np.sqrt(scores.var(axis=-1, ddof=1).mean()))


def ask(head, difference, width=64):
    """Weights of two keys whose scores differ by `difference`, unscaled."""
    q, k = np.zeros((1, width)), np.zeros((2, width))
    q[0, 0], k[0, 0] = 1, difference
    return head(q, k)[0]


def divisor(head, difference=8.0):
    first, second = ask(head, difference)
    return difference / math.log(first / second)


def within_rows(q, k):
    scores = q @ np.swapaxes(k, -1, -2)
    return float(1 / np.sqrt(scores.var(axis=-1).mean()))


def over_all(q, k):
    return float(1 / (q @ np.swapaxes(k, -1, -2)).std())


def mean_of_spreads(q, k):
    return float(1 / (q @ np.swapaxes(k, -1, -2)).std(axis=-1).mean())


def mean_of_factors(q, k):
    return float((1 / (q @ np.swapaxes(k, -1, -2)).std(axis=-1)).mean())


def within_columns(q, k):
    return float(1 / np.sqrt((q @ np.swapaxes(k, -1, -2)).var(axis=-2).mean()))


class TestAnswers(ExerciseAnswers):
    quoted = True
    right: ClassVar = {
        "scaling-1": 3,
        "scaling-2": (1 / 8, 1 / 16, -3 / 16),
        "scaling-7": one_sign,
        "scaling-3": divisor,
        "scaling-4": within_rows,
        "scaling-5": lambda d_k, p: 1 / (p * math.sqrt(d_k)),
        "scaling-8": 16,
        "scaling-9": OWN_KEY,
        "scaling-10": solve,
        "scaling-6": math.sqrt(8),
    }
    also_right: ClassVar = {
        "two digits": ("scaling-2", (0.13, 0.063, -0.19)),
        "two digits, to even": ("scaling-2", [0.12, 0.06, -0.19]),
        "two digits, cut": ("scaling-2", np.array([0.12, 0.06, -0.18], np.float32)),
        "three digits": ("scaling-2", (0.125, 0.063, -0.188)),
        "fractions": ("scaling-2", [Fraction(1, 8), Fraction(1, 16), Fraction(-3, 16)]),
        "four groups": (
            "scaling-7",
            lambda rng, n: np.repeat(rng.standard_normal((2, n, 4)), 16, axis=2),
        ),
        "sparse, its own key": ("scaling-7", sparse_own_key),
        "a measured factor": ("scaling-8", 16.03),
        "one size for a row's q and k": ("scaling-7", sparse_rows),
        "PyTorch's number": ("scaling-4", lambda q, k: torch.tensor(within_rows(q, k))),
        "a fraction": ("scaling-4", lambda q, k: Fraction(within_rows(q, k))),
        "rounded": ("scaling-1", Fraction(3)),
        "a float": ("scaling-6", np.float32(2.83)),
        "a list of one": ("scaling-6", [Fraction(28, 10)]),
        "one number": (
            "scaling-7",
            lambda rng, n: [rng.standard_normal((n, 1)) * np.ones(64)] * 2,
        ),
        "another difference": ("scaling-3", lambda head: divisor(head, 20.0)),
        "opposite keys": (
            "scaling-9",
            (np.ones((1, 64)), np.repeat([[1.0], [-1.0]], [1, 7], axis=0) * np.ones(64)),
        ),
    }
    wrong: ClassVar = {
        "scaling-1": {
            "One division": 12,
            "d_k is the variance": 0.75,
            "all heads together": 1.06,
            "by the number of heads": 1.5,
            "root of the number": math.sqrt(18),
            "multiplied by √d_k": 48,
            "is off": 6,
        },
        "scaling-2": {
            "other way round": (-1 / 8, -1 / 16, 3 / 16),
            "only the first part": (0, 0, -1 / 4),
            "factor w_j": (1 / 4, 1 / 4, -3 / 4),
            "the sum of dw": (1 / 2, 1 / 4, 0),
            "add up to 0.125": (1 / 8, 1 / 8, -1 / 8),
            "one of the three": (1 / 16, 1 / 8, -3 / 16),
            "The shape is ()": 0.125,
        },
        "scaling-7": {
            "the rule holds": lambda rng, n: rng.standard_normal((2, n, 64)),
            "the variance of one": lambda rng, n: 5 * rng.standard_normal((2, n, 64)),
            "has a mean": lambda rng, n: rng.standard_normal((2, n, 64)) + 1,
            "the right direction": lambda rng, n: one_sign(rng, n, equal=20),
            "all the same number": own_key_of_one_sign,
            "the other way": barely_any,
            "Two arrays": lambda rng, n: rng.standard_normal((n, 64)),
            "second call": lambda rng, n: one_sign(np.random.default_rng(0), n),
        },
        "scaling-3": {
            "the same for every head": lambda head: 8.0,
            "multiplies by": lambda head: 1 / divisor(head),
            "None of the ten": lambda head: ask(head, 8.0)[0] / ask(head, 8.0)[1],
            "−∞": lambda head: divisor(head, 1000.0),
            "Right for 6": lambda head: divisor(head, 1e-5),
        },
        "scaling-4": {
            "no others": lambda q, k: 1 / math.sqrt(q.shape[-1]),
            "Over all scores": over_all,
            "root of the mean": mean_of_spreads,
            "to divide by": lambda q, k: 1 / within_rows(q, k),
            "along the columns": within_columns,
            "float64": lambda q, k: np.float64(within_rows(q, k)),
            "minus 1": unbiased,
            "positive, finite": lambda q, k: 0.0,
            "One number": lambda q, k: np.ones(3),
        },
        "scaling-5": {
            "does not depend on p": lambda d_k, p: 1 / math.sqrt(d_k),
            "one vector only": lambda d_k, p: 1 / math.sqrt(d_k * p),
            "the variance of the score": lambda d_k, p: 1 / (d_k * p * p),
            "upside down": lambda d_k, p: p * math.sqrt(d_k),
            "Near, as a simulation": lambda d_k, p: 1.02 / (p * math.sqrt(d_k)),
            "do not come out": lambda d_k, p: {256: 1.0, 100: 0.2}.get(d_k, 1 / 8),
            "returned None": lambda d_k, p: None,
            "A function": 3.0,
        },
        "scaling-8": {
            "usual scale": 1 / 16,
            "bounded": 1,
            "the variance 256": 256,
            "variance of a cosine": 1 / 256,
            "do not come out": 2,
            "255 coordinates": math.sqrt(255),
        },
        "scaling-9": {
            "Two arrays": OWN_KEY[0],
            "neither 1 nor −1": (10 * OWN_KEY[0], OWN_KEY[1]),
            "the same score": (OWN_KEY[0], np.repeat(OWN_KEY[0], 8, axis=0)),
            "independent draws": (-SIGNS[:1], SIGNS[::-1]),
            "further out": (SIGNS[:1], HALF),
            "(64,)": (SIGNS[0], SIGNS),
            "2 keys share": (
                np.ones((1, 64)),
                np.repeat([[1.0], [-1.0]], [2, 6], axis=0) * np.ones(64),
            ),
        },
        "scaling-10": {
            "to multiply by": lambda scores, target: 1 / solve(scores, target),
            "in bits has come out": bisect(bits),
            "binary logarithms": bisect(lambda weights: 2 ** (bits(weights) * math.log(2))),
            "your power is of e": bisect(lambda weights: math.exp(bits(weights))),
            "nan": bisect(with_nan, 1e-9),
            "Right for 2 rows": bisect(effective_tokens, 0.5, 5),
            "depend on the target": lambda scores, target: scores.std(),
            "came out where": lambda scores, target: target,
            "-1": lambda scores, target: -1.0,
            "One number": lambda scores, target: scores / target,
        },
        "scaling-6": {
            "the variance of a score": 8,
            "entries of variance 1": math.sqrt(128),
            "after the division": 0.25,
            "one matrix only": math.sqrt(32),
            "times that of k": 32,
            "left out the 512": math.sqrt(128) / 2048,
            "is off": 4,
        },
    }
    also_wrong: ClassVar = {
        "a constant temperature": ("scaling-10", lambda scores, target: 2.0),
        "a mean of factors": ("scaling-4", mean_of_factors),
    }


def test_aligned_but_not_enough_is_not_called_independent():
    verdict = check("scaling-9", (SIGNS[:1], THIRD))
    _, weights = scaled_dot_product_attention(SIGNS[:1], THIRD, np.eye(8))
    assert 0.6 < weights.max() < 0.9
    assert "further out" in verdict.text
    assert "independent" not in verdict.text


def test_the_factors_asked_for_do_give_variance_one():
    q, k = rng.standard_normal((2, 20_000, 256))
    cosine = (q * k).sum(-1) / np.linalg.norm(q, axis=-1) / np.linalg.norm(k, axis=-1)
    assert (16 * cosine).var() == pytest.approx(1, abs=0.05)  # scaling-8
    q, k = rng.choice([-1, 0, 1], p=[1 / 32, 15 / 16, 1 / 32], size=(2, 20_000, 256))
    assert (q * k).sum(-1).var() == pytest.approx(1, abs=0.05)  # scaling-5 at p = 1/16


def test_the_measured_scale_is_asked_for_in_every_form():
    """It is called with similar tokens behind a LayerNorm, with a batch and with float32."""
    seen = []

    def scale(q, k):
        seen.append((q.ndim, q.dtype, (q @ np.swapaxes(k, -1, -2)).var(axis=-1).mean()))
        return within_rows(q, k)

    assert check("scaling-4", scale)
    assert {ndim for ndim, *_ in seen} == {2, 4}
    assert {dtype for _, dtype, _ in seen} == {np.dtype(np.float32), np.dtype(np.float64)}
    independent, similar, *_ = (variance for *_, variance in seen)
    assert independent == pytest.approx(64, rel=0.15)
    assert similar < 5  # of d_k = 16
