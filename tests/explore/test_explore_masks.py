"""The explorers of "Masks": every grid point, and the claims the chapter makes of them."""

import itertools

import numpy as np
import pytest

from qkv.explore.framework.frames import Frames
from qkv.explore.masks import FILLS, MASKS, WORDS, fills, leaks

POINTS = list(itertools.product([False, True], range(5), [False, True], FILLS))


def weights(**values):
    panels = fills(**values)
    shown = np.asarray(panels["weights"].values)
    np.testing.assert_allclose(shown[:, -1], shown[:, :-1].sum(axis=1), atol=1e-6)
    return shown[:, :-1], np.asarray(panels["mask"].values).astype(bool)


@pytest.mark.parametrize(("causal", "padding", "left"), {point[:3] for point in POINTS})
def test_minus_infinity_gives_rows_of_sum_one_or_zero_and_nothing_forbidden(causal, padding, left):
    w, allowed = weights(causal=causal, padding=padding, left=left, fill="−∞")
    assert not w[~allowed].any()
    np.testing.assert_allclose(w.sum(axis=1), allowed.any(axis=1), atol=1e-6)


def test_pencil_row_of_the_chapter():
    w, _ = weights(causal=True, padding=0, left=False, fill="−∞")
    np.testing.assert_allclose(w[2], [1 / 8, 3 / 8, 4 / 8, 0], atol=1e-6)
    w, _ = weights(causal=True, padding=0, left=False, fill="0 after softmax")
    np.testing.assert_allclose(w[2], [1 / 16, 3 / 16, 4 / 16, 0], atol=1e-6)


@pytest.mark.parametrize("fill", ["−1e9 added", "−1e4 instead"])
def test_finite_fills_spread_a_fully_masked_row_over_everything(fill):
    w, allowed = weights(causal=True, padding=2, left=True, fill=fill)
    assert not allowed[:2].any()
    np.testing.assert_allclose(w[:2], np.full((2, 6), 1 / 6), atol=1e-6)
    np.testing.assert_allclose(w[2:], weights(causal=True, padding=2, left=True, fill="−∞")[0][2:])


@pytest.mark.parametrize(("causal", "padding", "left"), {point[:3] for point in POINTS})
@pytest.mark.parametrize("fill", ["−1e9 added", "−1e4 instead"])
def test_finite_fills_are_as_good_as_infinity_where_no_row_is_empty(causal, padding, left, fill):
    w, allowed = weights(causal=causal, padding=padding, left=left, fill=fill)
    exact, _ = weights(causal=causal, padding=padding, left=left, fill="−∞")
    assert np.allclose(w, exact, atol=1e-6) == allowed.any(axis=1).all()


def test_zero_before_softmax_still_gets_weight():
    w, allowed = weights(causal=True, padding=0, left=True, fill="0 before softmax")
    np.testing.assert_allclose(w[0], [1 / 4] * 4, atol=1e-6)
    np.testing.assert_allclose(w.sum(axis=1), 1, atol=1e-6)
    assert w[~allowed].sum() > 1


@pytest.mark.parametrize("changed", WORDS)
def test_only_the_causal_and_the_too_strict_mask_do_not_leak(changed):
    j = WORDS.index(changed)
    for kind in MASKS:
        expected = {"causal": 0, "too strict": 0, "off by one": min(j, 1)}.get(kind, j)
        said = f"{expected} of {j}" if j else "none comes before it"
        assert leaks(kind=kind, changed=changed)["leaked"] == said


@pytest.mark.parametrize(("kind", "changed"), list(itertools.product(MASKS, WORDS)))
def test_what_moves_is_seen_to_move(kind, changed):
    """A bar that reads 0.00 beside the word "moved" would contradict it."""
    moved = np.asarray(leaks(kind=kind, changed=changed)["moved"].values)
    assert ((moved < 1e-9) | (moved > 0.01)).all()
    assert moved.max() < 6


def test_functions_are_pure_and_light():
    packed = Frames()
    for causal, padding, left, fill in POINTS:
        values = {"causal": causal, "padding": padding, "left": left, "fill": fill}
        first, second = fills(**values), fills(**values)
        np.testing.assert_array_equal(first["weights"].values, second["weights"].values)
        packed.add(first)
    for kind, changed in itertools.product(MASKS, WORDS):
        packed.add(leaks(kind=kind, changed=changed))
    assert len(packed.data) < 100_000
