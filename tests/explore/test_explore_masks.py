"""The explorers of "Masks": every grid point, and the claims the chapter makes of them."""

import itertools

import numpy as np
import pytest

from qkv.explore.framework.frames import Frames
from qkv.explore.masks import CAUSAL_MASKS, FILLS, MASKS, WORDS, fills, leaks

CASES = list(itertools.product(MASKS, range(5), [False, True]))
FINITE = "score −1e9"


def weights(mask="causal", padding=0, left=False, fill="score −∞"):
    panels = fills(mask=mask, padding=padding, left=left, fill=fill)
    shown = np.asarray(panels["weights"].values)
    np.testing.assert_allclose(shown[:, -1], shown[:, :-1].sum(axis=1), atol=1e-6)
    return shown[:, :-1], np.asarray(panels["allowed"].values).astype(bool)


def moved(kind, changed, layers=1):
    return np.asarray(leaks(kind=kind, changed=changed, layers=layers)["moved"].values)


@pytest.mark.parametrize(("mask", "padding", "left"), CASES)
def test_minus_infinity_gives_rows_of_sum_one_or_zero_and_nothing_blocked(mask, padding, left):
    w, allowed = weights(mask, padding, left)
    assert not w[~allowed].any()
    np.testing.assert_allclose(w.sum(axis=1), allowed.any(axis=1), atol=1e-6)


@pytest.mark.parametrize(("mask", "padding", "left"), CASES)
def test_each_mask_blocks_what_its_name_says(mask, padding, left):
    _, allowed = weights(mask, padding, left)
    n = 4 + padding
    later = np.arange(n)[None, :] > np.arange(n)[:, None]
    filler = np.roll(np.arange(n) >= 4, padding * left)[None, :]
    blocked = (later & (mask in ("causal", "both"))) | (filler & (mask in ("padding", "both")))
    np.testing.assert_array_equal(allowed, ~blocked)


def test_pencil_row_of_the_chapter():
    np.testing.assert_allclose(weights()[0][2], [0.2, 0.6, 0.2, 0], atol=1e-6)
    np.testing.assert_allclose(weights(fill="weight 0")[0][2], [0.1, 0.3, 0.1, 0], atol=1e-6)
    np.testing.assert_allclose(weights(fill="score 0")[0][2], np.array([1, 3, 1, 1]) / 6, atol=1e-6)
    np.testing.assert_allclose(weights("none")[0][2], [0.1, 0.3, 0.1, 0.5], atol=1e-6)


def test_two_pads_take_a_sixth_of_the_row_when_they_are_allowed():
    np.testing.assert_allclose(weights("none", padding=2)[0][2, 4:], [1 / 12] * 2, atol=1e-6)


def test_a_finite_fill_spreads_a_fully_blocked_row_over_everything():
    w, allowed = weights("both", 2, True, FINITE)
    assert not allowed[:2].any()
    np.testing.assert_allclose(w[:2], np.full((2, 6), 1 / 6), atol=1e-6)
    np.testing.assert_allclose(w[2:], weights("both", 2, True)[0][2:], atol=1e-6)


@pytest.mark.parametrize(("mask", "padding", "left"), CASES)
def test_a_finite_fill_is_as_good_as_infinity_where_no_row_is_blocked(mask, padding, left):
    w, allowed = weights(mask, padding, left, FINITE)
    exact, _ = weights(mask, padding, left)
    assert np.allclose(w, exact, atol=1e-6) == allowed.any(axis=1).all()


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("changed", WORDS)
def test_a_correct_mask_leaks_nothing_and_off_by_one_a_word_a_layer(changed, layers):
    j = WORDS.index(changed)
    for kind in ("causal", "too strict", "off by one", "after softmax"):
        expected = {"off by one": min(j, layers), "after softmax": j}.get(kind, 0)
        said = f"{expected} of {j}" if j else "none comes before it"
        assert leaks(kind=kind, changed=changed, layers=layers)["leaked"] == said


def test_the_exchanged_mask_shows_the_future_and_hides_the_past():
    np.testing.assert_array_equal(moved("exchanged", "on"), [1, 1, 1, 1, 0, 0])
    np.testing.assert_array_equal(moved("causal", "on"), [0, 0, 0, 1, 1, 1])


def test_the_too_strict_mask_hides_each_word_from_itself():
    np.testing.assert_array_equal(moved("too strict", "The"), [0, 1, 1, 1, 1, 1])


def test_functions_are_pure_and_light():
    packed = Frames()
    for (mask, padding, left), fill in itertools.product(CASES, FILLS):
        values = {"mask": mask, "padding": padding, "left": left, "fill": fill}
        first, second = fills(**values), fills(**values)
        np.testing.assert_array_equal(first["weights"].values, second["weights"].values)
        packed.add(first)
    for kind, changed, layers in itertools.product(CAUSAL_MASKS, WORDS, [1, 2, 3]):
        packed.add(leaks(kind=kind, changed=changed, layers=layers))
    assert len(packed.data) < 100_000
