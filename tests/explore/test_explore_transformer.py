"""The explorer of "The whole Transformer": who looks at whom."""

import numpy as np
import pytest

from qkv.explore.framework.frames import Frames
from qkv.explore.transformer import SENTENCES, alignment


@pytest.mark.parametrize("sentence", SENTENCES)
def test_alignment_has_a_row_of_sum_one_for_each_predicted_word(sentence):
    panels = alignment(sentence=sentence)
    heatmap = panels["weights"]
    np.testing.assert_allclose(heatmap.values.sum(-1), 1, atol=1e-5)
    assert " ".join(heatmap.rows[:-1]) == panels["translation"]
    assert heatmap.columns[:-1] == tuple(sentence.split())


def test_functions_are_light():
    packed = Frames()
    for sentence in SENTENCES:
        packed.add(alignment(sentence=sentence))
    assert len(packed.data) < 100_000
