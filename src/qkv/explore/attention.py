"""Explorer of the chapter on attention: score, scale, softmax and mix of one query."""

from __future__ import annotations

import math

import numpy as np

import qkv.numpy as qn
from qkv.explore.framework.panels import Bars, Heatmap, Panel
from qkv.language import gettext_noop

TOKENS = ("a", "fluffy", "blue", "creature", "roamed", "the", "verdant", "forest")
QUALITIES = ("fluffy", "blue", "verdant")

#             noun adj. verb fluffy blue verdant
E = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],  # a
        [0.0, 1.0, 0.0, 1.0, 0.0, 0.0],  # fluffy
        [0.0, 1.0, 0.0, 0.0, 1.0, 0.0],  # blue
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],  # creature
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],  # roamed
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],  # the
        [0.0, 1.0, 0.0, 0.0, 0.0, 1.0],  # verdant
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],  # forest
    ]
)
W_Q = np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 2.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
W_K = np.array([[0.0, 2.0], [2.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
W_V = np.vstack([np.zeros((3, 3)), np.eye(3)])


def follow_query(query: str, sharpness: float, nearness: float) -> dict[str, Panel | str]:
    """Scaled scores, weights and output of one query, and the weights of all queries.

    Args:
        query: the word that asks, one of `TOKENS`.
        sharpness: factor on every query; 0 asks nothing, large values look one thing up.
        nearness: subtracted from a score for each word of distance.
    Raises:
        ValueError: the word is not in the sentence.
    """
    if query not in TOKENS:
        raise ValueError(f"follow_query: query must be one of {', '.join(TOKENS)}; got {query!r}")
    row = TOKENS.index(query)
    position = np.arange(len(TOKENS))
    q, k, v = sharpness * E @ W_Q, E @ W_K, E @ W_V
    scores = q @ k.T / math.sqrt(2) - nearness * np.abs(position[:, None] - position)  # (T, S)
    weights = qn.softmax(scores)  # (T, S)
    out = weights @ v  # (T, d_v)
    mix = [f"{quality} {share:.2f}" for quality, share in zip(QUALITIES, out[row], strict=True)]
    return {
        gettext_noop("receives"): f"{query} ← {', '.join(mix)}",
        gettext_noop("scaled scores"): Bars(scores[row], labels=TOKENS, limits=(-7, 12)),
        gettext_noop("weights"): Bars(weights[row], labels=TOKENS, limits=(0, 1)),
        gettext_noop("mix"): Bars(out[row], labels=QUALITIES, limits=(0, 1), role="output"),
        gettext_noop("all words"): Heatmap(weights, rows=TOKENS, columns=TOKENS, highlight_row=row),
    }
