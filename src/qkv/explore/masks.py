"""Explorers of the chapter on masks: fill values around softmax, and leaks through wrong masks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.explore.framework.panels import Bars, Heatmap, Panels

Array = np.ndarray[Any, Any]

TOKENS = ("I", "study", "AI", "hard")
EXPONENTIALS = np.array([[1, 2, 1, 4], [2, 2, 1, 5], [1, 3, 4, 8], [2, 1, 1, 4]])
# In the order of what is written: each further left on the number line than the one before.
FILLS = ("0 after softmax", "0 before softmax", "−1e4 instead", "−1e9 added", "−∞")

WORDS = ("a", "fluffy", "blue", "creature", "roamed", "the", "verdant", "forest")
# In the order of what is let through.
MASKS = ("too strict", "causal", "off by one", "after softmax", "transposed", "flipped")


def fills(*, causal: bool, padding: int, left: bool, fill: str) -> Panels:
    """Attention weights of a padded, masked sentence under one way of masking, in float32.

    Args:
        causal: whether keys after the query are forbidden too.
        padding: how many `<PAD>` stand beside the four words; their vectors are zero.
        left: whether they stand in front of the words, else behind them.
        fill: one of FILLS.
    """
    tokens, real = _padded(padding, left)
    n = len(tokens)
    scores = np.zeros((n, n), np.float32)  # a zero vector scores 0 with everything
    scores[np.ix_(real, real)] = np.log(EXPONENTIALS)
    allowed = np.broadcast_to(real, (n, n)) & (np.tri(n, dtype=bool) | (not causal))
    weights = _weigh(scores, allowed, fill)
    return {
        "mask": Heatmap(allowed, tokens, tokens, colours="mask"),
        "weights": Heatmap(_with_sums(weights), tokens, (*tokens, "sum"), colours="weights"),
        "forbidden": f"{weights[~allowed].sum():.2f}",
    }


def leaks(*, kind: str, changed: str) -> Panels:
    """Which outputs of masked attention change, and how far, when one input token is replaced.

    Args:
        kind: one of MASKS; "after softmax" is the causal mask, applied too late.
        changed: the word that is replaced.
    """
    allowed = mask(kind, len(WORDS))
    x, other = np.random.default_rng(0).normal(size=(2, len(WORDS), 8))  # (T, d_model) each
    j = WORDS.index(changed)
    swapped = x.copy()
    swapped[j] = other[j]
    late = kind == "after softmax"
    moved = np.linalg.norm(_attend(swapped, allowed, late) - _attend(x, allowed, late), axis=-1)
    return {
        "mask": Heatmap(allowed, WORDS, WORDS, colours="mask"),
        "moved": Bars(moved, WORDS, limits=(0, 6), role="output"),
        "leaked": f"{int((moved[:j] > 1e-9).sum())} of {j}" if j else "none comes before it",
    }


def mask(kind: str, n: int) -> Array:
    """The (n, n) mask of that name, True = may attend; all but "causal" are wrong."""
    causal: Array = qn.causal_mask(n)[0, 0]
    kinds = {
        "flipped": ~causal,
        "off by one": np.tri(n, k=1, dtype=bool),
        "transposed": causal.T,
        "too strict": np.tri(n, k=-1, dtype=bool),
    }
    return kinds.get(kind, causal)


def _with_sums(weights: Array) -> Array:
    """(n, n + 1): a last column with the sum of each row."""
    return np.column_stack([weights, weights.sum(axis=1)])


def _padded(padding: int, left: bool) -> tuple[tuple[str, ...], Array]:
    filler, false = ("<PAD>",) * padding, [False] * padding
    true = [True] * len(TOKENS)
    if left:
        return filler + TOKENS, np.array(false + true)
    return TOKENS + filler, np.array(true + false)


def _weigh(scores: Array, allowed: Array, fill: str) -> Array:
    if fill == "0 after softmax":
        return np.where(allowed, qn.softmax(scores), np.float32(0))
    if fill == "−1e9 added":
        return qn.softmax(scores + np.where(allowed, np.float32(0), np.float32(-1e9)))
    instead = {"−∞": -np.inf, "−1e4 instead": -1e4, "0 before softmax": 0.0}[fill]
    return qn.softmax(np.where(allowed, scores, np.float32(instead)))


def _attend(x: Array, allowed: Array, late: bool) -> Array:
    if late:
        weights = qn.softmax(x @ x.T / math.sqrt(x.shape[1]))  # (T, S)
        return weights * allowed @ x
    return qn.scaled_dot_product_attention(x, x, x, mask=allowed)[0]
