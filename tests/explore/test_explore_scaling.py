"""The numbers and pictures of the scaling explorers."""

import math

import numpy as np
import pytest

from qkv.explore.framework.panels import Bars, Heatmap, Lines
from qkv.explore.scaling import (
    KEYS,
    STARVED,
    TOKENS,
    draw,
    effective_tokens,
    number_of_keys,
    saturation,
    starved,
)
from qkv.numpy import softmax

D_K = [2**i for i in range(10)]
SPREADS = [0.5, 1.0, 2.0, 4.0, 8.0]
EFFECTIVE = "effective tokens, on average"


def numbers(panels):
    texts = {name: p.rstrip("%") for name, p in panels.items() if isinstance(p, str)}
    return {name: float(text) for name, text in texts.items() if text != "below 1"}


def test_same_arguments_same_panels():
    for fn, arguments in ((saturation, (16, True)), (number_of_keys, (512, 2.0))):
        one, two = fn(*arguments), fn(*arguments)
        assert list(one) == list(two)
        for name, panel in one.items():
            if isinstance(panel, Bars | Heatmap):
                np.testing.assert_array_equal(panel.values, two[name].values)
        assert numbers(one) == numbers(two)
        assert numbers(one) != numbers(fn(*arguments, seed=1))


@pytest.mark.parametrize("d_k", D_K)
def test_variance_is_d_k_unscaled_and_one_scaled(d_k):
    unscaled, scaled = (numbers(saturation(d_k, s))["variance of the scores"] for s in (0, 1))
    assert unscaled == pytest.approx(d_k, rel=0.1)
    assert scaled == pytest.approx(1, rel=0.1)


def test_it_opens_saturated_and_scaling_mends_it():
    unscaled, scaled = (numbers(saturation(64, s)) for s in (False, True))
    assert unscaled["largest weight of a row, on average"] > 0.85
    assert unscaled["starved keys"] > 60
    assert scaled["largest weight of a row, on average"] < 0.4
    assert scaled["starved keys"] == 0
    row = TOKENS.index("creature")
    first, mended = (saturation(64, s)["all weights"].values[row] for s in (False, True))
    assert first.max() > 0.9
    assert mended.max() < 0.4
    np.testing.assert_array_equal(np.argsort(first), np.argsort(mended))


@pytest.mark.parametrize("scaled", [False, True])
def test_panels_hold_what_they_say(scaled):
    panels = saturation(64, scaled)
    weights, bars = panels["all weights"], panels["weights of creature"]
    assert isinstance(weights, Heatmap)
    assert isinstance(bars, Bars)
    assert tuple(weights.rows) == tuple(weights.columns) == tuple(bars.labels) == TOKENS
    assert weights.values.shape == (8, 8)
    row = TOKENS.index("creature")
    assert weights.highlight_row == row
    q, k = draw(np.random.default_rng(2), 500, 8, 64)
    scores = k[0] @ q[0, row] / (8 if scaled else 1)
    np.testing.assert_allclose(bars.values, softmax(scores))
    np.testing.assert_array_equal(bars.values, weights.values[row])


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("keys", [2, 8, 64, 4096])
def test_rows_of_many_keys(keys, spread):
    panels = number_of_keys(keys, spread)
    curve, row = panels["effective tokens"], panels["one row's largest weights"]
    assert isinstance(curve, Lines)
    assert isinstance(row, Bars)
    measured = curve.ys["measured"]
    assert measured[KEYS.index(keys)] == pytest.approx(numbers(panels)[EFFECTIVE], abs=0.06)
    assert np.all(np.diff(measured) > 0)  # more keys, more tokens that share the weight
    assert np.all(measured < KEYS)
    assert curve.mark == keys
    assert np.all(np.diff(row.values) <= 0)
    assert row.values.sum() < 1 + 1e-9
    assert numbers(panels)["starved keys"] == pytest.approx(starved_keys(keys, spread), abs=4)


def starved_keys(keys, spread):
    """Per cent, from other draws, one row at a time."""
    rng, rows, few = np.random.default_rng(5), 1000, 0
    for _ in range(rows):
        w = softmax(spread * rng.standard_normal(keys))
        few += sum(weight * keys < STARVED for weight in w)
    return 100 * few / (rows * keys)


@pytest.mark.parametrize("spread", [0.5, 1.0])
def test_the_rule_holds_for_many_keys_and_a_small_spread(spread):
    rule = 4096 * math.exp(-(spread**2) / 2)
    assert numbers(number_of_keys(4096, spread))[EFFECTIVE] == pytest.approx(rule, rel=0.01)


def test_the_rule_is_too_low_elsewhere():
    few, wide = number_of_keys(8, 1.0), number_of_keys(4096, 4.0)
    assert numbers(few)[EFFECTIVE] == pytest.approx(5.7, abs=0.1)
    assert numbers(few)["by the rule n·e^(−σ²/2)"] == 4.9
    assert 24 < numbers(wide)[EFFECTIVE] < 33
    assert numbers(wide)["by the rule n·e^(−σ²/2)"] == 1.4


def test_more_keys_starve_more_of_them():
    shares = [numbers(number_of_keys(n, 8.0))["starved keys"] for n in (8, 64, 512, 4096)]
    assert shares == sorted(shares)
    assert 64 < shares[0] < 69
    assert shares[-1] > 90


def test_a_narrower_draw_is_the_start_of_a_wider_one():
    narrow, wide = (draw(np.random.default_rng(3), 2, 5, d_k) for d_k in (3, 7))
    for a, b in zip(narrow, wide, strict=True):
        assert a.shape == (2, 5, 3)
        np.testing.assert_array_equal(a, b[..., :3])
    assert not np.allclose(*wide)


def test_effective_tokens_counts_equal_weights():
    rows = np.array([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.25, 0.25, 0.25]])
    np.testing.assert_allclose(effective_tokens(rows), [1, 2, 4])


def test_starved_counts_keys_far_below_their_equal_share():
    weights = np.array([[0.5, 0.5, 0, 0], [0.997, 0.002, 0.0005, 0.0005], [0.25] * 4])
    assert starved(weights) == 5 / 12
    assert starved(np.array([0.5, 0.5])) == 0


def test_the_grids_weigh_under_100_kB():
    def size(panels):
        values = [
            p.values if isinstance(p, Bars | Heatmap) else np.stack([p.x, *p.ys.values()])
            for p in panels.values()
            if not isinstance(p, str)
        ]
        return sum(2 * np.asarray(value).size for value in values)

    assert sum(size(saturation(d, s)) for d in D_K for s in (0, 1)) < 1e5
    assert sum(size(number_of_keys(n, s)) for n in KEYS for s in SPREADS) < 1e5
