"""The explorer of "Where am I?": every grid point, and the claims the chapter makes of them."""

import itertools
import math

import numpy as np
import pytest

from qkv.explore.framework.frames import Frames
from qkv.explore.positional import POSITIONS, WIDTHS, encoding

CASES = list(itertools.product(WIDTHS, range(POSITIONS)))


@pytest.mark.parametrize(("d_model", "position"), CASES)
def test_similarity_depends_on_the_distance_alone(d_model, position):
    panels = encoding(d_model=d_model, position=position)
    shown = np.asarray(panels["similarity"].ys["dot product"])
    waves = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    distance = np.arange(POSITIONS) - position
    expected = np.cos(distance[:, None] * waves).mean(axis=1)
    np.testing.assert_allclose(shown, expected, atol=1e-10)
    assert shown.argmax() == position == panels["similarity"].mark


@pytest.mark.parametrize(("d_model", "position"), CASES)
def test_the_hands_point_where_the_row_says(d_model, position):
    panels = encoding(d_model=d_model, position=position)
    row = np.asarray(panels["encoding"].values)[position]
    assert panels["encoding"].highlight_row == position
    hands = np.asarray(panels["hands"].points)
    assert hands.shape == (d_model // 2, 1, 2)
    np.testing.assert_array_equal(hands.reshape(-1), row)
    np.testing.assert_allclose((hands**2).sum(axis=-1), 1)


def test_the_hands_of_width_four_by_hand():
    hands = encoding(d_model=4, position=7)["hands"]
    assert hands.names == ("0: λ = 6", "1: λ = 628")
    expected = [[[math.sin(7), math.cos(7)]], [[math.sin(0.07), math.cos(0.07)]]]
    np.testing.assert_allclose(hands.points, expected)


def test_it_is_pure_and_light():
    packed = Frames()
    for d_model, position in CASES:
        values = {"d_model": d_model, "position": position}
        first, second = encoding(**values), encoding(**values)
        np.testing.assert_array_equal(first["encoding"].values, second["encoding"].values)
        packed.add(first)
    assert len(packed.data) < 100_000
