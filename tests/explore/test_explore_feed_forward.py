"""The explorer of "Feed-forward": every grid point, and the claims the chapter makes of it."""

import itertools

import numpy as np
import pytest

from qkv.explore.feed_forward import ACTIVATIONS, TARGETS, WIDTHS, X, first_layer, targets, units
from qkv.explore.framework.frames import Frames

GRID = list(itertools.product(TARGETS, ACTIVATIONS, WIDTHS))


def shown(target="distance", activation="ReLU", d_ff=2):
    return units(target=target, activation=activation, d_ff=d_ff)


def curve(panels, name="network"):
    return np.asarray(panels["network"].ys[name])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("d_ff", WIDTHS)
def test_without_an_activation_every_width_is_one_straight_line(target, d_ff):
    output = curve(shown(target, "none", d_ff))
    np.testing.assert_allclose(np.diff(output, 2), 0, atol=1e-6)
    line = np.polyval(np.polyfit(X, curve(shown(target), "wanted"), 1), X)
    np.testing.assert_allclose(output, line, atol=2e-3)


def test_two_relu_units_are_the_distance_exactly():
    panels = shown()
    np.testing.assert_allclose(curve(panels), np.abs(X), atol=1e-3)
    assert panels["typical error"] == "0.00"
    np.testing.assert_allclose(panels["units"].ys["1"], np.maximum(0, X), atol=1e-3)
    np.testing.assert_allclose(panels["units"].ys["2"], np.maximum(0, -X), atol=1e-3)


def test_what_the_chapter_says_of_errors():
    def error(*chosen):
        return float(shown(*chosen)["typical error"])

    assert error("distance", "none", 8) > 0.5
    assert error("wave", "ReLU", 8) < 0.1 < error("wave", "ReLU", 4)
    assert min(error("step function", name, 8) for name in ACTIVATIONS) > 0.05
    between = 2 * np.maximum(0, X[:, None] - [0, 0.1])  # bends that are close draw the step
    np.testing.assert_allclose(between @ [5, -5], targets("step function"), atol=1e-9)


def test_relu_bends_only_where_a_unit_does():
    for d_ff in WIDTHS:
        output = curve(shown("wave", "ReLU", d_ff))
        _, bends = first_layer(d_ff)
        far = np.abs(X[1:-1, None] - bends).min(axis=1) > 0.11  # no bend within one step
        np.testing.assert_allclose(np.diff(output, 2)[far], 0, atol=5e-9)  # nine decimals are shown


def test_what_is_zero_but_for_rounding_is_zero():
    """The sign of noise differs between processors, and with it the bytes that are stored."""
    for point in GRID:
        panels = shown(*point)
        for values in (curve(panels), *panels["units"].ys.values()):
            noise = np.asarray(values)[np.abs(values) < 5e-10]
            assert not noise.any(), point
            assert not np.signbit(noise).any(), point


@pytest.mark.parametrize(("target", "activation"), list(itertools.product(TARGETS, ACTIVATIONS)))
def test_more_units_never_fit_worse(target, activation):
    """The squared error: the units of one width are among those of the next."""
    squared = [
        ((curve(p) - curve(p, "wanted")) ** 2).sum()
        for p in (shown(target, activation, d_ff) for d_ff in WIDTHS)
    ]
    assert all(b <= a + 1e-3 for a, b in itertools.pairwise(squared))


@pytest.mark.parametrize(("target", "activation", "d_ff"), GRID)
def test_the_units_add_up_to_the_network(target, activation, d_ff):
    panels = shown(target, activation, d_ff)
    total = np.sum(list(panels["units"].ys.values()), axis=0)
    b_2 = curve(panels) - total
    np.testing.assert_allclose(b_2, b_2[0], atol=1e-6)
    assert panels["parameters"] == str(3 * d_ff + 1)


def test_no_unit_needs_a_huge_weight():
    """So the drawing of single units stays readable."""
    for target, activation, d_ff in GRID:
        added = list(shown(target, activation, d_ff)["units"].ys.values())
        assert np.abs(added).max() < 10


def test_function_is_pure_and_light():
    packed = Frames()
    for target, activation, d_ff in GRID:
        first, second = (shown(target, activation, d_ff) for _ in range(2))
        np.testing.assert_array_equal(curve(first), curve(second))
        packed.add(first)
    assert len(packed.data) < 100_000
