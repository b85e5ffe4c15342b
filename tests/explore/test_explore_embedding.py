"""The explorer of "From text to vectors": every grid point, and the claims the chapter makes."""

import itertools

import numpy as np
import pytest

from qkv.explore.embedding import COMPARED, SHARES, WORDS, mix, mixed
from qkv.explore.framework.frames import Frames

GRID = list(itertools.product(SHARES, SHARES))


def test_without_shares_tower_stays_where_it_is():
    np.testing.assert_allclose(mixed(0, 0), WORDS["tower"])


@pytest.mark.parametrize(("eiffel", "miniature"), GRID)
def test_the_mix_is_a_weighted_sum_that_lies_between_its_words(eiffel, miniature):
    vector = mixed(eiffel, miniature)
    expected = (1 - eiffel / 100 - miniature / 100) * np.array(WORDS["tower"])
    expected += eiffel / 100 * np.array(WORDS["Eiffel"])
    expected += miniature / 100 * np.array(WORDS["miniature"])
    np.testing.assert_allclose(vector, expected, atol=1e-12)
    assert -3 <= vector[0] <= 2
    assert -0.5 <= vector[1] <= 1.5


def test_the_pencil_points_of_the_chapter():
    np.testing.assert_allclose(mixed(40, 0), [1.6, 1.2])
    np.testing.assert_allclose(mixed(30, 30), [0.2, 0.6], atol=1e-12)
    assert WORDS == {"tower": (2, 0), "Eiffel": (1, 3), "miniature": (-3, -1)}
    np.testing.assert_allclose(mixed(50, 0), [1.5, 1.5])
    np.testing.assert_allclose(mixed(0, 50), [-0.5, -0.5])


@pytest.mark.parametrize(
    ("eiffel", "miniature", "nearest"),
    [
        (0, 0, "skyscraper"),
        (10, 0, "skyscraper"),
        (20, 0, "landmark"),
        (40, 0, "landmark"),
        (50, 0, "landmark"),
        (0, 50, "toy"),
        (30, 30, "landmark"),
    ],
)
def test_the_nearest_word_follows(eiffel, miniature, nearest):
    assert mix(eiffel=eiffel, miniature=miniature)["nearest"] == nearest
    assert nearest in COMPARED


@pytest.mark.parametrize(("eiffel", "miniature"), GRID)
def test_only_tower_moves_and_from_its_own_row(eiffel, miniature):
    plane = mix(eiffel=eiffel, miniature=miniature)["plane"]
    np.testing.assert_allclose(plane.points[0], mixed(eiffel, miniature))
    np.testing.assert_allclose(plane.start[0], WORDS["tower"])
    np.testing.assert_allclose(plane.points[1:], plane.start[1:])
    assert np.abs(plane.points).max() <= plane.limits[1]


def test_the_explorer_is_pure_and_light():
    packed = Frames()
    for eiffel, miniature in GRID:
        packed.add(mix(eiffel=eiffel, miniature=miniature))
    assert len(packed.data) < 100_000
