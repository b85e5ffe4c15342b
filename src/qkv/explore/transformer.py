"""Explorer of the chapter on the whole Transformer: who looks at whom, and in a broken model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.explore.framework.panels import Heatmap, Panels
from qkv.language import gettext_noop
from qkv.numpy import sinusoidal_encoding
from qkv.pretrained import pretrained
from qkv.text.vocabulary import EOS, SOS

__all__ = ["MEMORIES", "SENTENCES", "alignment"]

SENTENCES = (
    "The cat sat on the mat",
    "I like the small cat",
    "The cat chased the dog",
    "The dog chased the cat",
    "The dog did not cross the street because it was wide",
)
MEMORIES = (
    gettext_noop("layer 2"),
    gettext_noop("layer 1"),
    gettext_noop("embeddings"),
    gettext_noop("no positions"),
)


def alignment(*, sentence: str, memory: str = "layer 2") -> Panels:
    """Cross-attention of the trained model's decoder layer, head by head, as it writes.

    Args:
        sentence: English words that the model knows, such as one of SENTENCES.
        memory: what the decoder reads, one of MEMORIES: the model's own memory ("layer 2"), the
            output of the first encoder layer, the encoder's input, or the memory without positions.
    """
    translator = pretrained()
    model: Any = translator.model.eval()
    source = translator.source.encode(sentence, eos=True)[None]  # (1, S)
    states = _memory(model, source, memory)
    ids = np.array([[SOS]])
    while ids[0, -1] != EOS and ids.size < translator.max_len:
        last_row = model.decode(ids, states)[0, -1]  # (V,)
        ids = np.append(ids, [[last_row.argmax()]], axis=1)
    weights: dict[str, Any] = {}
    model.decode(ids[:, :-1], states, attention_maps=weights)
    cross = weights["decoder.layers.0.cross_attention"][0]  # (H, T, S)
    rows, columns = translator.target.labels(ids[0, 1:]), translator.source.labels(source[0])
    return {
        gettext_noop("translation"): translator.target.decode(ids[0, 1:]),
        "weights": Heatmap(cross, rows, columns, colours="weights"),
    }


def _memory(model: Any, source: NDArray[Any], memory: str) -> NDArray[Any]:
    """(1, S, d_model): what the decoder reads."""
    states: NDArray[Any] = model.source_embedding(source)
    if memory != "no positions":
        states = states + sinusoidal_encoding(*states.shape[1:])
    n_layers = {"layer 1": 1, "embeddings": 0}.get(memory, len(model.encoder.layers))
    for layer in model.encoder.layers[:n_layers]:
        states = layer(states)
    return states
