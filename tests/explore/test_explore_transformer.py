"""The explorer of "The whole Transformer": who looks at whom."""

import numpy as np
import pytest

from qkv.explore.framework.frames import Frames
from qkv.explore.transformer import MEMORIES, SENTENCES, alignment
from qkv.pretrained import pretrained


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_alignment_has_a_row_of_sum_one_for_each_predicted_word(sentence, memory):
    panels = alignment(sentence=sentence, memory=memory)
    heatmap = panels["weights"]
    np.testing.assert_allclose(heatmap.values.sum(-1), 1, atol=1e-5)
    assert " ".join(heatmap.rows[:-1]) == panels["translation"]
    assert heatmap.columns[:-1] == tuple(sentence.split())


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_model_as_trained_is_the_translator_s(sentence):
    panels, maps = alignment(sentence=sentence), pretrained().attention(sentence)
    assert panels["translation"] == maps.translation
    np.testing.assert_allclose(panels["weights"].values, maps.stack("cross")[-1], atol=1e-5)


def test_each_broken_memory_writes_something_else():
    right = [alignment(sentence=sentence)["translation"] for sentence in SENTENCES]
    for memory in MEMORIES[1:]:
        broken = [alignment(sentence=one, memory=memory)["translation"] for one in SENTENCES]
        assert broken != right


def test_functions_are_light():
    packed = Frames()
    for sentence in SENTENCES:
        for memory in MEMORIES:
            packed.add(alignment(sentence=sentence, memory=memory))
    assert len(packed.data) < 100_000
