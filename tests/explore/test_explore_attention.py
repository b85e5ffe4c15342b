"""The explorer of the chapter on attention shows what the package computes."""

import numpy as np
import pytest

import qkv.numpy as qn
from qkv.explore import Bars, Heatmap
from qkv.explore.attention import TOKENS, W_K, W_Q, W_V, E, follow_query


@pytest.mark.parametrize("query", TOKENS)
@pytest.mark.parametrize("nearness", [0.0, 0.7])
def test_panels_are_the_packages_attention(query, nearness):
    row = TOKENS.index(query)
    distance = np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
    out, weights = qn.scaled_dot_product_attention(
        1.5 * E @ W_Q, E @ W_K, E @ W_V, bias=-nearness * distance
    )
    panels = follow_query(query, sharpness=1.5, nearness=nearness)
    assert isinstance(panels["weights"], Bars)
    assert isinstance(panels["mix"], Bars)
    assert isinstance(panels["all words"], Heatmap)
    np.testing.assert_allclose(panels["weights"].values, weights[row])
    np.testing.assert_allclose(panels["mix"].values, out[row])
    np.testing.assert_allclose(panels["all words"].values, weights)
    np.testing.assert_allclose(qn.softmax(panels["scaled scores"].values), weights[row])
    assert panels["all words"].highlight_row == row


def test_what_the_reader_is_sent_to_find():
    far = follow_query("creature", 1.0, 0.0)["mix"].values
    near = follow_query("creature", 1.0, 1.0)["mix"].values
    assert far[2] > 0.3 > 0.1 > near[2]  # verdant leaves the creature
    assert np.ptp(follow_query("creature", 0.0, 0.0)["weights"].values) < 1e-12
    assert np.ptp(follow_query("the", 4.0, 0.0)["weights"].values) < 1e-12
    thirds = follow_query("creature", 4.0, 0.0)["mix"].values
    np.testing.assert_allclose(thirds, 1 / 3, atol=1e-4)
    assert follow_query("creature", 1.0, 0.0)["receives"].startswith("creature ← fluffy 0.3")


def test_unknown_word():
    with pytest.raises(ValueError, match=r"query must be one of a, fluffy.*got 'cat'"):
        follow_query("cat", 1.0, 0.0)
