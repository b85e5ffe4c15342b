"""The explorer of "Looking inside": pictures of the trained model, translations without heads."""

import itertools

import numpy as np
import pytest

from qkv.explore.framework.frames import Frames
from qkv.explore.results import PARTS, SENTENCES, SHOWN, added_lengths, heads, states
from qkv.pretrained import EXAMPLES, pretrained
from qkv.translator.ablation import attentions

WIDE = "it was wide"


def picture(sentence, part, show=SHOWN[0]):
    return np.asarray(heads(sentence=sentence, part=part, show=show)["maps"].values)


@pytest.mark.parametrize("part", PARTS)
def test_the_weights_are_those_of_the_model(part):
    kind, layer, _ = PARTS[part]
    maps = pretrained().attention(SENTENCES[WIDE])
    np.testing.assert_array_equal(picture(WIDE, part), maps.stack(kind)[layer])


@pytest.mark.parametrize("part", PARTS)
def test_what_is_added_adds_up_to_the_layers_output(part):
    """The parts whose lengths are shown, over heads and words, and the bias make the output."""
    attention = attentions(pretrained().model)[PARTS[part][2]]
    read = states(SENTENCES[WIDE])[part]
    weights = picture(WIDE, part)
    n_heads, d_v = attention.sizes[1], attention.sizes[-1]
    values = attention.w_v(read[None])[0].reshape(len(read), n_heads, d_v).swapaxes(0, 1)
    rows = attention.w_o.params["weight"].reshape(n_heads, d_v, -1)
    parts = weights[..., None] * (values @ rows)[:, None]  # (H, T, S, d_model)
    lengths = np.linalg.norm(parts, axis=-1)
    np.testing.assert_allclose(added_lengths(attention, weights, read), lengths, atol=1e-4)
    if part == "decoder":
        out, _ = attention(read[None], causal=True)
    elif part != "cross":
        out, _ = attention(read[None])
    else:
        return
    total = parts.sum(axis=(0, 2)) + attention.w_o.params["bias"]
    np.testing.assert_allclose(total, out[0], atol=1e-4)


def test_the_weights_of_the_states_are_the_models_own():
    """The vectors that the values are made of are those that the model reads: so are its keys."""
    maps = pretrained().attention(SENTENCES[WIDE])
    for layer, part in enumerate(("encoder layer 1", "encoder layer 2")):
        attention = attentions(pretrained().model)[PARTS[part][2]]
        _, weights = attention(states(SENTENCES[WIDE])[part][None], need_weights=True)
        np.testing.assert_allclose(weights[0], maps.stack("encoder")[layer], atol=1e-5)


def test_it_looks_at_the_street_in_both_heads_and_neither_is_needed():
    panels = heads(sentence=WIDE, part="encoder layer 2", show=SHOWN[0])
    rows, columns = panels["maps"].rows, panels["maps"].columns
    of_it = np.asarray(panels["maps"].values)[:, rows.index("it")]  # (H, S)
    assert [columns[j] for j in of_it.argmax(axis=1)] == ["street", "street"]
    assert panels["without_1"] == panels["without_2"] == "the same"


def test_without_the_second_head_of_the_decoder_the_sentence_does_not_end():
    panels = heads(sentence=WIDE, part="decoder", show=SHOWN[0])
    assert panels["without_1"] == "the same"
    assert panels["without_2"].split()[-2:] == ["않았다", "않았다"]


def test_functions_are_pure_and_light():
    packed = Frames()
    for sentence, part, show in itertools.product(SENTENCES, PARTS, SHOWN):
        panels = heads(sentence=sentence, part=part, show=show)
        values = np.asarray(panels["maps"].values)
        np.testing.assert_allclose(values.sum(axis=-1), 1, atol=1e-5)
        np.testing.assert_array_equal(values, picture(sentence, part, show))
        packed.add(panels)
    assert len(packed.data) < 100_000
    assert tuple(SENTENCES.values()) == EXAMPLES
