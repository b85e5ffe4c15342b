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


def one_sign(rng, n, equal=64):
    """The first `equal` entries of a vector are one number, the others are independent."""
    q, k = rng.choice([-1.0, 1.0], size=(2, n, 64))
    q[:, :equal], k[:, :equal] = q[:, :1], k[:, :1]
    return q, k


def own_key(rng, n):
    q = rng.choice([-1.0, 1.0], size=(n, 64))
    return q, q


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


RIGHT = {
    "scaling-1": [6, 6.0, np.array([[6.0]])],
    "scaling-2": [(1 / 8, 1 / 16, -3 / 16), np.array([0.125, 0.0625, -0.1875])],
    "scaling-3": [one_sign, lambda rng, n: [rng.standard_normal((n, 1)) * np.ones(64)] * 2],
    "scaling-4": [divisor, lambda head: divisor(head, 20.0)],
    "scaling-5": [within_rows],
    "scaling-6": [lambda d_k, p: 1 / (p * math.sqrt(d_k))],
    "scaling-7": [16, math.sqrt(256)],
    "scaling-8": [
        OWN_KEY,
        (np.ones((1, 64)), np.repeat([[1.0], [-1.0]], [1, 7], axis=0) * np.ones(64)),
        [OWN_KEY[0].tolist(), OWN_KEY[1].astype(int)],
    ],
    "scaling-9": [solve],
}

WRONG = {
    "scaling-1": [12, 3, 24, 7],
    "scaling-2": [
        (-1 / 8, -1 / 16, 3 / 16),
        (0, 0, -1 / 4),
        (1 / 4, 1 / 4, -3 / 4),
        (1 / 2, 1 / 4, 0),
        (1 / 8, 1 / 8, -1 / 8),
        (1 / 16, 1 / 8, -3 / 16),
        0.125,
    ],
    "scaling-3": [
        lambda rng, n: rng.standard_normal((2, n, 64)),
        lambda rng, n: 5 * rng.standard_normal((2, n, 64)),
        lambda rng, n: rng.standard_normal((2, n, 64)) + 1,
        lambda rng, n: one_sign(rng, n, equal=20),
        own_key,
        lambda rng, n: rng.standard_normal((n, 64)),
        lambda rng, n: one_sign(np.random.default_rng(0), n),
    ],
    "scaling-4": [
        lambda head: 8.0,
        lambda head: 1 / divisor(head),
        lambda head: ask(head, 8.0)[0] / ask(head, 8.0)[1],
        lambda head: divisor(head, 1000.0),
        lambda head: divisor(head, 1e-5),
    ],
    "scaling-5": [
        lambda q, k: 1 / math.sqrt(q.shape[-1]),
        over_all,
        mean_of_spreads,
        lambda q, k: 1 / within_rows(q, k),
        within_columns,
        lambda q, k: np.float64(within_rows(q, k)),
        lambda q, k: 0.0,
        lambda q, k: np.ones(3),
    ],
    "scaling-6": [
        lambda d_k, p: 1 / math.sqrt(d_k),
        lambda d_k, p: 1 / math.sqrt(d_k * p),
        lambda d_k, p: 1 / (d_k * p * p),
        lambda d_k, p: p * math.sqrt(d_k),
        lambda d_k, p: 1.0,
        lambda d_k, p: None,
        3.0,
    ],
    "scaling-7": [1 / 16, 1, 256, 1 / 256, 2, math.sqrt(255)],
    "scaling-8": [
        OWN_KEY[0],
        (10 * OWN_KEY[0], OWN_KEY[1]),
        (OWN_KEY[0], np.repeat(OWN_KEY[0], 8, axis=0)),
        (-SIGNS[:1], SIGNS[::-1]),
        (SIGNS[:1], HALF),
        (SIGNS[0], SIGNS),
        (np.ones((1, 64)), np.repeat([[1.0], [-1.0]], [2, 6], axis=0) * np.ones(64)),
    ],
    "scaling-9": [
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
    verdict = check("scaling-8", (SIGNS[:1], THIRD))
    _, weights = scaled_dot_product_attention(SIGNS[:1], THIRD, np.eye(8))
    assert 0.6 < weights.max() < 0.9
    assert "further out" in verdict.text
    assert "independent" not in verdict.text


def test_a_constant_temperature_is_told_to_look_at_the_target():
    assert "target" in check("scaling-9", lambda scores, target: 2.0).text


def test_the_factors_asked_for_do_give_variance_one():
    q, k = rng.standard_normal((2, 20_000, 256))
    cosine = (q * k).sum(-1) / np.linalg.norm(q, axis=-1) / np.linalg.norm(k, axis=-1)
    assert (16 * cosine).var() == pytest.approx(1, abs=0.05)  # scaling-7
    q, k = rng.choice([-1, 0, 1], p=[1 / 32, 15 / 16, 1 / 32], size=(2, 20_000, 256))
    assert (q * k).sum(-1).var() == pytest.approx(1, abs=0.05)  # scaling-6 at p = 1/16


def test_the_measured_scale_is_asked_for_in_every_form():
    """It is called with similar tokens behind a LayerNorm, with a batch and with float32."""
    seen = []

    def scale(q, k):
        seen.append((q.ndim, q.dtype, (q @ np.swapaxes(k, -1, -2)).var(axis=-1).mean()))
        return within_rows(q, k)

    assert check("scaling-5", scale)
    assert {ndim for ndim, *_ in seen} == {2, 4}
    assert {dtype for _, dtype, _ in seen} == {np.dtype(np.float32), np.dtype(np.float64)}
    independent, similar, *_ = (variance for *_, variance in seen)
    assert independent == pytest.approx(64, rel=0.15)
    assert similar < 5  # of d_k = 16


@pytest.mark.parametrize("answer", [mean_of_spreads, mean_of_factors])
def test_a_mean_of_roots_is_named(answer):
    assert "root of the mean" in check("scaling-5", answer).hint


def test_a_wide_difference_underflows_and_is_named():
    assert "−∞" in check("scaling-4", lambda head: divisor(head, 1000.0)).hint
