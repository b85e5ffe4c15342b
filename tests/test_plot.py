"""The figures' helpers draw what they are given: numbers, tokens, shapes."""

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from qkv.plot import COLOURS, WEIGHTS, format_number, heatmap, matrix_box, style, text_colour_on


@pytest.fixture
def ax():
    fig, ax = plt.subplots()
    yield ax
    plt.close(fig)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_heatmap_prints_every_number_on_its_colour(ax):
    values = np.array([[0.25, 0.75], [1.0, 0.0]])
    heatmap(ax, values, ["a", "b"], ["c", "d"])
    assert texts(ax) == ["0.25", "0.75", "1.00", "0.00"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["c", "d"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "b"]
    (image,) = ax.images
    np.testing.assert_array_equal(image.get_array(), values)
    assert image.get_clim() == (0, 1)  # weights keep one scale, whatever they are
    assert [text.get_color() for text in ax.texts] == ["black", "white", "white", "black"]


def test_scores_diverge_about_zero_and_masked_ones_are_blank(ax):
    heatmap(ax, [[-2.0, 1.0], [-np.inf, 0.5]], "ab", "cd", kind="scores")
    assert ax.images[0].get_clim() == (-2, 2)
    assert texts(ax) == ["−2.00", "1.00", "−∞", "0.50"]
    assert ax.images[0].get_array().mask.tolist() == [[False, False], [True, False]]


def test_numbers_may_be_left_out(ax):
    heatmap(ax, np.eye(3), "abc", "abc", numbers=False)
    assert texts(ax) == []


def test_number():
    assert [format_number(x) for x in (0.126, -1.0, -np.inf)] == ["0.13", "−1.00", "−∞"]


@pytest.mark.parametrize(("colour", "readable"), [("white", "black"), ("#1E1B4B", "white")])
def test_over_picks_the_readable_one(colour, readable):
    assert text_colour_on(colour) == readable
    assert text_colour_on(WEIGHTS(1.0)) == "white"


def test_box_is_to_scale_and_names_its_sides(ax):
    matrix_box(ax, 2, rows=8, columns=3, name="$V$", colour="value", sides=("$n$", "$d_v$"))
    (patch,) = ax.collections
    corners = patch.get_paths()[0].vertices
    assert np.ptp(corners[:, 0]) == 3
    assert np.ptp(corners[:, 1]) == 8
    assert texts(ax) == ["$V$", "$n$", "$d_v$"]
    assert ax.texts[0].get_color() == COLOURS["value"]


def test_style_keeps_figures_opaque_and_small():
    with matplotlib.rc_context():
        style()
        assert matplotlib.rcParams["figure.facecolor"] == "white"
        assert matplotlib.rcParams["savefig.dpi"] <= 110
