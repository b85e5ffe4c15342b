"""The explorer of "Add & Norm": its stacks, and the claims that the chapter makes of them."""

import itertools

import numpy as np
import pytest

import qkv.numpy as qn
from qkv.explore import add_norm_stacks as stacks
from qkv.explore.add_norm import (
    EDGE,
    PLACEMENTS,
    STARTS,
    SUBLAYERS,
    deep_stack,
    medians,
    short,
    signals,
)
from qkv.explore.framework.frames import Frames

DEPTHS = (2, 4, 8, 12, 24, 48)


@pytest.mark.parametrize(("way", "kind"), list(itertools.product(PLACEMENTS, SUBLAYERS)))
def test_backward_agrees_with_finite_differences(way, kind):
    rng = np.random.default_rng(1)
    start = "Xavier"
    kinds = ("attention", "feed-forward") if kind == "in turn" else (kind,)
    stack = [stacks.make_sublayer(kinds[i % len(kinds)], start, rng) for i in range(2)]
    norms = [qn.LayerNorm(stacks.WIDTH, dtype=np.float64) for _ in stack]
    x, dout, along = rng.standard_normal((3, 6, stacks.WIDTH))

    def forward(x):
        for f, norm in zip(stack, norms, strict=True):
            x = stacks.step(x, f, norm, way)
        return x

    up, down = (forward(x + sign * 1e-6 * along) for sign in (1, -1))
    dx = dout
    for f, norm in zip(reversed(stack), reversed(norms), strict=True):
        f.layer.zero_grad()
        norm.zero_grad()
    forward(x)
    for f, norm in zip(reversed(stack), reversed(norms), strict=True):
        dx = stacks.step_backward(dx, f, norm, way)
    expected = ((up - down) * dout).sum() / 2e-6
    assert (dx * along).sum() == pytest.approx(expected, rel=1e-5)


def test_placements_are_those_of_the_package():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((6, stacks.WIDTH))
    f = stacks.make_sublayer("attention", "Xavier", rng)
    norm = qn.LayerNorm(stacks.WIDTH, dtype=np.float64)
    for way, norm_first in (("post-norm", False), ("pre-norm", True)):
        package = qn.AddNorm(stacks.WIDTH, norm_first, dtype=np.float64)
        np.testing.assert_allclose(stacks.step(x, f, norm, way), package(x, f))


@pytest.mark.parametrize("seed", range(5))
def test_tokens_become_equal_without_the_addition_and_later_with_it(seed):
    for start in STARTS:
        found = {way: signals(way, 48, start, seed) for way in PLACEMENTS}
        equal = {way for way, run in found.items() if run.differences[12] == 0}
        assert equal == {"neither", "norm only"}
        for way in ("post-norm", "pre-norm"):
            assert 0.3 < found[way].gradients[0] < 20
        assert found["pre-norm"].differences[-1] > 0.1
    assert signals("post-norm", 48, "Xavier", seed).differences[-1] < 1e-5
    assert signals("neither", 48, "N(0, 0.07)", seed).gradients[0] < 1e-24
    assert 0.01 < signals("norm only", 48, "N(0, 0.07)", seed).gradients[0] < 100
    assert signals("residual only", 48, "Xavier", seed).gradients[0] > 1e6


def test_a_gradient_that_overflows_is_infinite_and_nothing_is_warned_of():
    run = signals("residual only", 48, "N(0, 0.25)")
    assert np.isinf(run.gradients[0])
    assert np.isfinite(run.sizes).all()
    assert short(run.gradients[0]) == "too large"


def test_signals_have_one_number_a_sublayer_and_the_norm_keeps_the_size():
    run = signals("post-norm", 8)
    assert run.gradients.shape == run.sizes.shape == run.differences.shape == (9,)
    assert run.gradients[-1] == pytest.approx(1)
    np.testing.assert_allclose(run.sizes[1:], 1, atol=1e-3)
    assert (signals("neither", 8).differences[5:] == 0).all()


def test_medians_are_those_of_five_seeds():
    runs = [signals("pre-norm", 4, seed=seed) for seed in range(5)]
    difference, gradient = medians("pre-norm", 4)
    assert difference == sorted(run.differences[-1] for run in runs)[2]
    assert gradient == sorted(run.queries[1] for run in runs)[2]


@pytest.mark.parametrize("seed", range(5))
def test_w_q_gets_no_gradient_where_the_tokens_are_equal_though_x_gets_one(seed):
    for start in STARTS:
        equal = signals("norm only", 48, start, seed)
        assert equal.queries[23] < 1e-12
        assert 0.04 < equal.gradients[0] < 10
        assert signals("pre-norm", 48, start, seed).queries[23] > 0.03
    assert signals("post-norm", 48, "Xavier", seed).queries[23] < 1e-4
    assert signals("post-norm", 48, "N(0, 0.07)", seed).queries[23] > 0.03


def test_a_feed_forward_network_has_no_w_q():
    queries = signals("pre-norm", 4, kind="in turn").queries
    assert np.isnan(queries).tolist() == [False, True, False, True]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1.94, "1.9"), (139, "140"), (2.9e12, "2.9e12"), (1e-5, "1.0e-5")],
)
def test_numbers_have_two_digits(value, text):
    assert short(value) == text


def test_the_opening_state_shows_tokens_that_become_equal():
    panels = deep_stack(depth=12, weights="Xavier")
    for way in ("neither", "norm only"):
        line = np.asarray(panels["differences"].ys[way])
        assert line[0] > -0.1
        assert (line[6:] == -EDGE).all()
    assert panels["summary"].rows[0][:2] == ("neither", "0")


def test_function_is_pure_and_light():
    packed = Frames()
    for depth, weights in itertools.product(DEPTHS, STARTS):
        values = {"depth": depth, "weights": weights}
        first, second = deep_stack(**values), deep_stack(**values)
        assert first["summary"].rows == second["summary"].rows
        for name in ("gradient", "size", "differences"):
            assert list(first[name].ys) == list(PLACEMENTS)
            for way, line in first[name].ys.items():
                assert np.abs(np.asarray(line)).max() <= EDGE
                np.testing.assert_array_equal(line, second[name].ys[way])
        packed.add(first)
    assert len(packed.data) < 100_000
