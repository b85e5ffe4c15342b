"""The explorers of "Masks": every grid point, and the claims the chapter makes of them."""

import itertools

import numpy as np
import pytest

from qkv.explore.frames import Frames
from qkv.explore.masks import FILLS, MASKS, SIDES, WORDS, fills, leaks

POINTS = list(itertools.product([False, True], range(5), SIDES, FILLS))


def weights(**values):
    panels = fills(**values)
    return np.asarray(panels["weights"].values), np.asarray(panels["mask"].values).astype(bool)


@pytest.mark.parametrize(("causal", "padding", "side"), {point[:3] for point in POINTS})
def test_minus_infinity_gives_rows_of_sum_one_or_zero_and_nothing_forbidden(causal, padding, side):
    w, allowed = weights(causal=causal, padding=padding, side=side, fill="−∞")
    assert not w[~allowed].any()
    np.testing.assert_allclose(w.sum(axis=1), allowed.any(axis=1), atol=1e-6)


def test_pencil_row_of_the_chapter():
    w, _ = weights(causal=True, padding=0, side="right", fill="−∞")
    np.testing.assert_allclose(w[2], [1 / 8, 3 / 8, 4 / 8, 0], atol=1e-6)
    w, _ = weights(causal=True, padding=0, side="right", fill="0 after softmax")
    np.testing.assert_allclose(w[2], [1 / 16, 3 / 16, 4 / 16, 0], atol=1e-6)


@pytest.mark.parametrize("fill", ["−1e9 added", "−1e4 instead"])
def test_finite_fills_spread_a_fully_masked_row_over_everything(fill):
    w, allowed = weights(causal=True, padding=2, side="left", fill=fill)
    assert not allowed[:2].any()
    np.testing.assert_allclose(w[:2], np.full((2, 6), 1 / 6), atol=1e-6)
    np.testing.assert_allclose(
        w[2:], weights(causal=True, padding=2, side="left", fill="−∞")[0][2:]
    )


@pytest.mark.parametrize(("causal", "padding", "side"), {point[:3] for point in POINTS})
@pytest.mark.parametrize("fill", ["−1e9 added", "−1e4 instead"])
def test_finite_fills_are_as_good_as_infinity_where_no_row_is_empty(causal, padding, side, fill):
    w, allowed = weights(causal=causal, padding=padding, side=side, fill=fill)
    exact, _ = weights(causal=causal, padding=padding, side=side, fill="−∞")
    assert np.allclose(w, exact, atol=1e-6) == allowed.any(axis=1).all()


def test_zero_before_softmax_still_gets_weight():
    w, allowed = weights(causal=True, padding=0, side="left", fill="0 before softmax")
    np.testing.assert_allclose(w[0], [1 / 4] * 4, atol=1e-6)
    np.testing.assert_allclose(w.sum(axis=1), 1, atol=1e-6)
    assert w[~allowed].sum() > 1


@pytest.mark.parametrize("changed", WORDS)
def test_only_the_causal_and_the_too_strict_mask_do_not_leak(changed):
    j = WORDS.index(changed)
    for kind in MASKS:
        leaked, of = leaks(kind=kind, changed=changed)["leaked"].split(" / ")
        assert int(of) == j
        expected = {"causal": 0, "too strict": 0, "off by one": min(j, 1)}.get(kind, j)
        assert int(leaked) == expected


def test_functions_are_pure_and_light():
    packed = Frames()
    for causal, padding, side, fill in POINTS:
        values = {"causal": causal, "padding": padding, "side": side, "fill": fill}
        first, second = fills(**values), fills(**values)
        np.testing.assert_array_equal(first["weights"].values, second["weights"].values)
        assert first["row_sums"] == second["row_sums"]
        packed.add(first)
    for kind, changed in itertools.product(MASKS, WORDS):
        packed.add(leaks(kind=kind, changed=changed))
    assert len(packed.data) < 100_000
