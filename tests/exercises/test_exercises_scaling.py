"""The scaling chapter's checks: right answers pass, and each likely mistake meets its own hint."""

import math

import numpy as np
import pytest

from qkv.exercises import check
from qkv.explore.scaling import effective_tokens
from qkv.numpy import scaled_dot_product_attention, softmax

rng = np.random.default_rng(0)
SIGNS = np.where(rng.random((8, 64)) < 0.5, -1.0, 1.0)
OWN_KEY = (SIGNS[:1], SIGNS)
HALF = SIGNS.copy()
HALF[0, :10] *= -1  # 54 of 64 entries agree with the query: score 5.5


THIRD = SIGNS.copy()
THIRD[0, :14] *= -1  # 50 of 64 agree


def bisect(goal, low=1e-4, high=1e4):
    """A solver for scaling-6 that brings goal(weights) to the target."""
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

RIGHT = {
    "scaling-1": [6, 6.0, np.array([[6.0]])],
    "scaling-2": [0.125, 1 / 8],
    "scaling-3": [lambda d_k, p: 1 / (p * math.sqrt(d_k))],
    "scaling-4": [16, math.sqrt(256)],
    "scaling-5": [OWN_KEY, [OWN_KEY[0].tolist(), OWN_KEY[1].astype(int)]],
    "scaling-6": [solve],
}

WRONG = {
    "scaling-1": [12, 3, 24, 7],
    "scaling-2": [1, 64, 8, 64 / math.sqrt(512), 0.3536, 0.5],  # 1: scaled by √d_model, not √d_k
    "scaling-3": [
        lambda d_k, p: 1 / math.sqrt(d_k),
        lambda d_k, p: 1 / math.sqrt(d_k * p),
        lambda d_k, p: 1 / (d_k * p * p),
        lambda d_k, p: p * math.sqrt(d_k),
        lambda d_k, p: 1.0,
        lambda d_k, p: None,
        3.0,
    ],
    "scaling-4": [1 / 16, 1, 256, 1 / 256, 2],
    "scaling-5": [
        OWN_KEY[0],
        (10 * OWN_KEY[0], OWN_KEY[1]),
        (OWN_KEY[0], np.repeat(OWN_KEY[0], 8, axis=0)),
        (-SIGNS[:1], SIGNS[::-1]),
        (SIGNS[:1], HALF),
        (SIGNS[0], SIGNS),
    ],
    "scaling-6": [
        lambda scores, target: 1 / solve(scores, target),
        bisect(bits),
        bisect(lambda weights: 2 ** (bits(weights) * math.log(2))),
        bisect(lambda weights: math.exp(bits(weights))),
        bisect(with_nan, 1e-9),
        bisect(effective_tokens, 0.5, 5),
        lambda scores, target: scores.std(),
        lambda scores, target: target,
        lambda scores, target: -1.0,
        lambda scores, target: scores / target,
    ],
}


@pytest.mark.parametrize(("name", "answer"), [(n, a) for n, every in RIGHT.items() for a in every])
def test_right_answers_are_accepted(name, answer):
    verdict = check(name, answer)
    assert verdict, verdict


@pytest.mark.parametrize("name", WRONG)
def test_each_mistake_meets_its_own_hint(name):
    verdicts = [check(name, answer) for answer in WRONG[name]]
    assert all(verdict.state == "wrong" for verdict in verdicts)
    assert len({verdict.hint for verdict in verdicts}) == len(verdicts), verdicts
    assert all(verdict.hint for verdict in verdicts)


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("answer", [None, ...])
def test_an_unanswered_exercise_says_so(name, answer):
    assert check(name, answer).state == "open"


def test_aligned_but_not_enough_is_not_called_independent():
    verdict = check("scaling-5", (SIGNS[:1], THIRD))
    _, weights = scaled_dot_product_attention(SIGNS[:1], THIRD, np.eye(8))
    assert 0.6 < weights.max() < 0.9
    assert "further out" in verdict.text
    assert "independent" not in verdict.text


def test_a_constant_temperature_is_told_to_look_at_the_target():
    assert "target" in check("scaling-6", lambda scores, target: 2.0).text


def test_the_factors_asked_for_do_give_variance_one():
    q, k = rng.standard_normal((2, 20_000, 256))
    cosine = (q * k).sum(-1) / np.linalg.norm(q, axis=-1) / np.linalg.norm(k, axis=-1)
    assert (16 * cosine).var() == pytest.approx(1, abs=0.05)  # scaling-4
    q, k = rng.choice([-1, 0, 1], p=[1 / 32, 15 / 16, 1 / 32], size=(2, 20_000, 256))
    assert (q * k).sum(-1).var() == pytest.approx(1, abs=0.05)  # scaling-3 at p = 1/16
    q, k = rng.standard_normal((2, 20_000, 64))
    assert ((q * k).sum(-1) / math.sqrt(512)).var() == pytest.approx(1 / 8, abs=0.01)  # scaling-2
