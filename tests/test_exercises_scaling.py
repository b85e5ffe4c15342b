"""The scaling chapter's checks: right answers pass, and each likely mistake meets its own hint."""

import math

import numpy as np
import pytest

from qkv.exercises import check
from qkv.explore.scaling import effective_tokens
from qkv.numpy import softmax

rng = np.random.default_rng(0)
SIGNS = np.where(rng.random((8, 64)) < 0.5, -1.0, 1.0)
OWN_KEY = (SIGNS[:1], SIGNS)
HALF = SIGNS.copy()
HALF[0, :10] *= -1  # 54 of 64 entries agree with the query: score 5.5


def bisect(goal):
    """A solver for scaling-6 that brings goal(weights) to the target."""

    def temperature(scores, target):
        low, high = 1e-4, 1e4
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
        lambda scores, target: math.sqrt(8),
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


def test_the_factors_asked_for_do_give_variance_one():
    q, k = rng.standard_normal((2, 20_000, 256))
    cosine = (q * k).sum(-1) / np.linalg.norm(q, axis=-1) / np.linalg.norm(k, axis=-1)
    assert (16 * cosine).var() == pytest.approx(1, abs=0.05)  # scaling-4
    q, k = rng.choice([-1, 0, 1], p=[1 / 32, 15 / 16, 1 / 32], size=(2, 20_000, 256))
    assert (q * k).sum(-1).var() == pytest.approx(1, abs=0.05)  # scaling-3 at p = 1/16
    q, k = rng.standard_normal((2, 20_000, 64))
    assert ((q * k).sum(-1) / math.sqrt(512)).var() == pytest.approx(1 / 8, abs=0.01)  # scaling-2
