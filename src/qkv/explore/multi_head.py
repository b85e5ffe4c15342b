"""Explorer of the chapter on multi-head attention: heads, their width, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.explore.framework.panels import Heatmap, Panels, Table
from qkv.language import gettext, gettext_noop

Array = np.ndarray[Any, Any]

TOKENS = ("The", "dog", "chased", "a", "small", "cat", "and", "it", "ran", "away")
# What each head looks for: from place i of n words, the place of the word that it should find.
RELATIONS: dict[str, Callable[[int, int], int]] = {
    gettext_noop("the word before"): lambda i, n: max(i - 1, 0),
    gettext_noop("the verb"): lambda i, n: 2,
    gettext_noop("the word after"): lambda i, n: min(i + 1, n - 1),
    gettext_noop("itself"): lambda i, n: i,
    gettext_noop("the last word"): lambda i, n: n - 1,
    gettext_noop("two words before"): lambda i, n: max(i - 2, 0),
    gettext_noop("two words after"): lambda i, n: min(i + 2, n - 1),
    gettext_noop("the first word"): lambda i, n: 0,
}
D_MODEL = 32
N_HEADS = (1, 2, 4, 8)
D_K = (2, 4, 8, 16, 32)
WORDS = (3, 6, 10)
SIZE = (1, 1.4)  # of the entries of a key
FOLLOW = {h: D_MODEL // h for h in N_HEADS}  # d_k = d_model / heads


def heads(*, n_heads: int, d_k: int, words: int, size: float) -> Panels:
    """Weights of heads that each look for another word, with random keys of width d_k; the cost.

    A key has d_k random entries, +size or −size, and a query is the key of the word that it looks
    for. So the right score is size² · √d_k; each other score has mean 0 and variance size⁴.

    Args:
        n_heads: number of heads, the first of RELATIONS.
        d_k: width of a head's queries, keys and values.
        words: how many of TOKENS there are, 3 at least.
        size: of the entries of a key.
    """
    maps = np.stack([head_weights(h, d_k, words, size) for h in range(n_heads)])  # (H, T, S)
    found = [right_weight(h, d_k, words, size) for h in range(n_heads)]
    rows = [
        [n + 1, gettext(name), f"{w:.2f}"]
        for n, (name, w) in enumerate(zip(RELATIONS, found, strict=False))
    ]
    ours, full = cost(D_MODEL, n_heads, d_k, words), cost(D_MODEL, 1, D_MODEL, words)
    shown = TOKENS[:words]
    return {
        "maps": Heatmap(maps, shown, shown, colours="weights"),
        gettext_noop("score"): gettext("right score: size² · √d_k = {score}").format(
            score=f"{size**2 * math.sqrt(d_k):.1f}"
        ),
        "found": Table([gettext("head"), gettext("looks for"), gettext("weight on it")], rows),
        gettext_noop("cost"): Table(
            ["", gettext("these heads"), gettext("one head, d_k = {d_k}").format(d_k=D_MODEL)],
            [[gettext(name), f"{ours[name]:,}", f"{full[name]:,}"] for name in ours],
        ),
    }


def cost(d_model: int, n_heads: int, d_k: int, tokens: int) -> dict[str, int]:
    """Parameters without biases, FLOPs of all matrix products, and attention weights; d_v = d_k."""
    width = n_heads * d_k
    parameters = 4 * d_model * width
    products = 2 * tokens * parameters + 2 * 2 * tokens**2 * width
    return {
        gettext_noop("parameters"): parameters,
        "FLOPs": products,
        gettext_noop("weights"): n_heads * tokens**2,
    }


def head_weights(head: int, d_k: int, words: int, size: float) -> Array:
    """(T, S) weights of one head."""
    signs = np.random.default_rng(head).choice([-1.0, 1.0], size=(len(TOKENS), D_K[-1]))
    keys = size * signs[:words, :d_k]  # (S, d_k)
    queries = keys[wanted(head, words)]  # (T, d_k)
    weights: Array = qn.softmax(queries @ keys.T / math.sqrt(d_k))
    return weights


def right_weight(head: int, d_k: int, words: int, size: float) -> float:
    """Weight on the word that the head looks for, the mean over the queries."""
    weights = head_weights(head, d_k, words, size)
    return float(np.mean([weights[i, j] for i, j in enumerate(wanted(head, words))]))


def wanted(head: int, words: int) -> list[int]:
    """For each word, the place of the one that this head looks for."""
    relation = list(RELATIONS.values())[head]
    return [relation(i, words) for i in range(words)]
