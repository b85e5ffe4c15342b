"""The numbers and pictures of the scaling explorer."""

import itertools

import numpy as np
import pytest

from qkv.explore.framework.panels import Bars, Heatmap
from qkv.explore.scaling import (
    TOKENS,
    draw,
    effective_tokens,
    jacobian_norm,
    saturation,
    sizes,
)
from qkv.numpy import softmax

SCORES = "share of scores of each size, sign left out"
D_K = [2**i for i in range(10)]


def numbers(panels):
    return {name: float(p) for name, p in panels.items() if isinstance(p, str)}


def test_same_arguments_same_panels():
    one, two = saturation(16, 2, True), saturation(16, 2, True)
    assert list(one) == list(two)
    for name in ("weights", SCORES):
        np.testing.assert_array_equal(one[name].values, two[name].values)
    assert numbers(one) == numbers(two)
    assert numbers(one) != numbers(saturation(16, 2, True, seed=1))


@pytest.mark.parametrize("n_heads", [1, 2, 4, 8])
@pytest.mark.parametrize("d_k", D_K)
def test_variance_is_d_k_unscaled_and_one_scaled(d_k, n_heads):
    tolerance = 0.25 / np.sqrt(n_heads)
    unscaled, scaled = (
        numbers(saturation(d_k, n_heads, s))["variance of the scores"] for s in (False, True)
    )
    assert unscaled == pytest.approx(d_k, rel=tolerance)
    assert scaled == pytest.approx(1, rel=tolerance)


def test_it_opens_saturated_and_scaling_mends_it():
    unscaled, scaled = (numbers(saturation(512, 1, s)) for s in (False, True))
    assert unscaled["mean largest weight"] > 0.94
    assert unscaled["mean effective tokens, of 8"] < 1.3
    assert unscaled["mean norm of the Jacobian"] < 0.09
    assert scaled["mean largest weight"] < 0.45
    assert scaled["mean effective tokens, of 8"] > 5
    assert scaled["mean norm of the Jacobian"] == pytest.approx(0.36, abs=0.02)


@pytest.mark.parametrize("scaled", [False, True])
def test_panels_hold_what_they_say(scaled):
    panels = saturation(64, 4, scaled)
    assert isinstance(panels["weights"], Heatmap)
    assert isinstance(panels[SCORES], Bars)
    weights = np.asarray(panels["weights"].values)
    assert weights.shape == (4, 8, 8)
    np.testing.assert_allclose(weights.sum(-1), 1)
    assert np.asarray(panels[SCORES].values).sum() == pytest.approx(1)
    assert tuple(panels["weights"].rows) == TOKENS


def test_each_head_draws_its_own_and_keeps_it():
    two, four = (np.asarray(saturation(8, h, True)["weights"].values) for h in (2, 4))
    np.testing.assert_array_equal(two, four[:2])
    assert not np.allclose(four[0], four[1])


def test_a_narrower_draw_is_the_start_of_a_wider_one():
    narrow, wide = (draw(np.random.default_rng(3), 2, 5, d_k) for d_k in (3, 7))
    for a, b in zip(narrow, wide, strict=True):
        assert a.shape == (2, 5, 3)
        np.testing.assert_array_equal(a, b[..., :3])
    assert not np.allclose(*wide)


def test_effective_tokens_counts_equal_weights():
    rows = np.array([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.25, 0.25, 0.25]])
    np.testing.assert_allclose(effective_tokens(rows), [1, 2, 4])


def test_jacobian_norm_is_the_norm_of_the_jacobian():
    weights = softmax(np.random.default_rng(5).standard_normal((11, 7)) * 3)
    for w, norm in zip(weights, jacobian_norm(weights), strict=True):
        assert norm == pytest.approx(np.linalg.norm(np.diag(w) - np.outer(w, w)))
    assert jacobian_norm(np.array([0.5, 0.5, 0])) == pytest.approx(0.5)
    assert jacobian_norm(np.array([0.0, 1, 0])) == 0


def test_every_score_has_a_size():
    shares, about = sizes(np.array([0.0, -0.1, 0.5, -1.0, 1.2, 23.0, -64.0, 1000.0]))
    np.testing.assert_allclose(shares * 8, [2, 1, 2, 0, 0, 0, 0, 1, 2])
    assert about == ["≤ ¼", "½", "1", "2", "4", "8", "16", "32", "≥ 64"]


def test_the_whole_grid_weighs_under_100_kB():
    def size(panels):
        return sum(2 * np.asarray(p.values).size for p in panels.values() if not isinstance(p, str))

    assert sum(size(saturation(d, h, s)) for d in D_K for h in (1, 2, 4, 8) for s in (0, 1)) < 1e5


@pytest.mark.parametrize("scaled", [False, True])
def test_four_times_the_width_is_one_bar_further_only_unscaled(scaled):
    shares = [np.asarray(saturation(d, 8, scaled)[SCORES].values) for d in (16, 64, 256)]
    for narrow, wide in itertools.pairwise(shares):
        expected = narrow if scaled else np.append(0, narrow[:-1])
        np.testing.assert_allclose(wide[2:], expected[2:], atol=0.03)
