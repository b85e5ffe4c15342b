"""Explorer of the chapter on results: the picture of every head, and the translation without it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.explore.framework.panels import Heatmap, Panels
from qkv.language import gettext, gettext_noop
from qkv.pretrained import EXAMPLES, pretrained
from qkv.translator.ablation import attentions, zero_ablation

Array = np.ndarray[Any, Any]

# A short name for each sentence, in its own words, for its button.
NAMES = (
    "cat on mat",
    "it was tired",
    "it was wide",
    "it was hungry",
    "it was delicious",
    "I was tired",
    "hat",
    "house",
    "garden",
    "teacher",
    "library",
    "clever dog",
)
SENTENCES = dict(zip(NAMES, EXAMPLES, strict=True))

# The parts of the model that ships: as `AttentionMaps` calls them, the layer, as `attentions` does.
PARTS = {
    gettext_noop("encoder layer 1"): ("encoder", 0, "encoder 0, self"),
    gettext_noop("encoder layer 2"): ("encoder", 1, "encoder 1, self"),
    gettext_noop("decoder"): ("decoder", 0, "decoder 0, self"),
    gettext_noop("cross"): ("cross", 0, "decoder 0, cross"),
}
SHOWN = (gettext_noop("weight"), gettext_noop("share of what is added"))


def heads(*, sentence: str, part: str, show: str) -> Panels:
    """Both heads of one attention of the model that ships, and the translation without each.

    Args:
        sentence: a name of SENTENCES.
        part: one of PARTS.
        show: one of SHOWN: the weights; or what each word adds, by `added_lengths`, as a share of
            its row.
    """
    text = SENTENCES[sentence]
    kind, layer, name = PARTS[part]
    maps = pretrained().attention(text)
    weights = maps.stack(kind)[layer]  # (H, T, S)
    if show == SHOWN[1]:
        lengths = added_lengths(attentions(pretrained().model)[name], weights, states(text)[part])
        weights = lengths / lengths.sum(axis=-1, keepdims=True)
    same = {maps.translation: gettext("the same")}
    one, two = (same.get(written, written) for written in without(text, name))
    return {
        gettext_noop("sentence"): f"{text} → {maps.translation}",
        "maps": Heatmap(weights, maps.queries(kind), maps.keys(kind), colours="weights"),
        "without_1": one,
        "without_2": two,
    }


@cache
def without(text: str, name: str) -> list[str]:
    """The translations while each head of the attention of that name is switched off."""
    attention = attentions(pretrained().model)[name]
    written = []
    for head in range(attention.sizes[1]):
        with zero_ablation(attention, head):
            written.append(pretrained().translate(text))
    return written


def added_lengths(attention: Any, weights: Array, read: Array) -> Array:
    """(H, T, S) lengths of what each key adds to each query's output: weight · |value · W_O|.

    Args:
        weights: (H, T, S) of this attention.
        read: (S, d_model) vectors from which its values are made.
    """
    n_heads, d_v = attention.sizes[1], attention.sizes[-1]
    values = qn.split_heads(attention.w_v(read[None]), n_heads)[0]  # (H, S, d_v)
    rows = attention.w_o.params["weight"].reshape(n_heads, d_v, -1)  # (H, d_v, d_model)
    lengths = np.linalg.norm(values @ rows, axis=-1)  # (H, S)
    added: Array = weights * lengths[:, None]
    return added


@cache
def states(text: str) -> dict[str, Array]:
    """By the name of a part: the (S, d_model) vectors from which its values are made."""
    translator = pretrained()
    model = translator.model
    source = translator.source.encode(text, eos=True)[None]  # (1, S)
    maps = translator.attention(text)
    target = np.array([[translator.target.tokens.index(t) for t in maps.decoder_input]])  # (1, T)
    first = _embed(model.source_embedding, source)
    second = model.encoder.layers[0](first)
    return {
        "encoder layer 1": first[0],
        "encoder layer 2": second[0],
        "decoder": _embed(model.target_embedding, target)[0],
        "cross": model.encoder.layers[1](second)[0],
    }


def _embed(embedding: Any, ids: Array) -> Array:
    vectors = embedding(ids)
    embedded: Array = vectors + qn.sinusoidal_encoding(*vectors.shape[1:])
    return embedded
