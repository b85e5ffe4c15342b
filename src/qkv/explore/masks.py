"""Explorers of the chapter on masks: fill values around softmax, and leaks through wrong masks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.explore.framework.panels import Bars, Heatmap, Panels
from qkv.language import gettext, gettext_noop

Array = np.ndarray[Any, Any]

TOKENS = ("I", "study", "AI", "hard")
EXPONENTIALS = np.array([[1, 2, 2, 5], [2, 2, 1, 5], [1, 3, 1, 5], [3, 1, 1, 5]])
MASKS = (
    gettext_noop("none"),
    gettext_noop("causal"),
    gettext_noop("padding"),
    gettext_noop("both"),
)
# What a blocked pair gets.
FILLS = (
    gettext_noop("score −∞"),
    gettext_noop("score −1e9"),
    gettext_noop("score 0"),
    gettext_noop("weight 0"),
)

WORDS = ("The", "cat", "sat", "on", "the", "mat")
CAUSAL_MASKS = (
    gettext_noop("causal"),
    gettext_noop("off by one"),
    gettext_noop("after softmax"),
    gettext_noop("exchanged"),
    gettext_noop("too strict"),
)


def fills(*, mask: str, fill: str, padding: int, left: bool) -> Panels:
    """Attention weights of a padded sentence under one mask, written in one way, in float32.

    Args:
        mask: one of MASKS.
        fill: one of FILLS: a score that overwrites, or a weight after the softmax.
        padding: how many `<PAD>` stand beside the four words; their vectors are zero.
        left: whether they stand in front of the words, else behind them.
    """
    tokens, real = _padded(padding, left)
    n = len(tokens)
    scores = np.zeros((n, n), np.float32)  # a zero vector scores 0 with everything
    scores[np.ix_(real, real)] = np.log(EXPONENTIALS)
    allowed = np.ones((n, n), bool)
    if mask in ("causal", "both"):
        allowed &= np.tri(n, dtype=bool)
    if mask in ("padding", "both"):
        allowed &= real
    weights = _weigh(scores, allowed, fill)
    return {
        gettext_noop("allowed"): Heatmap(allowed, tokens, tokens, colours="mask"),
        "weights": Heatmap(
            _with_sums(weights), tokens, (*tokens, gettext("sum")), colours="weights"
        ),
        "total": f"{weights[~allowed].sum():.2f}",
    }


def leaks(*, kind: str, changed: str, layers: int) -> Panels:
    """Which outputs of masked attention change when one input token is replaced.

    Args:
        kind: one of CAUSAL_MASKS; "after softmax" sets weights to 0 there and never divides again.
        changed: the word that is replaced.
        layers: how many layers of attention run one after another, each under the same mask.
    """
    allowed = causal_mask(kind, len(WORDS))
    x, other = np.random.default_rng(0).normal(size=(2, len(WORDS), 8))  # (T, d_model) each
    j = WORDS.index(changed)
    swapped = x.copy()
    swapped[j] = other[j]
    late = kind == "after softmax"
    for _ in range(layers):
        x, swapped = (_attend(z, allowed, late) for z in (x, swapped))
    moved = np.linalg.norm(swapped - x, axis=-1) > 1e-9
    return {
        gettext_noop("allowed"): Heatmap(allowed, WORDS, WORDS, colours="mask"),
        "moved": Bars(moved, WORDS, limits=(0, 1), role="output"),
        "leaked": _leaked(moved[:j]),
    }


def _leaked(earlier: Array) -> str:
    """How many of the earlier outputs moved."""
    if not len(earlier):
        return gettext("none comes before it")
    return gettext("{some} of {all}").format(some=earlier.sum(), all=len(earlier))


def causal_mask(kind: str, n: int) -> Array:
    """The (n, n) mask of that name, True = allowed; all but "causal" are wrong."""
    causal: Array = qn.causal_mask(n)[0, 0]
    kinds = {
        "exchanged": ~causal,
        "off by one": np.tri(n, k=1, dtype=bool),
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
    if fill == "weight 0":
        return np.where(allowed, qn.softmax(scores), np.float32(0))
    instead = {"score −∞": -np.inf, "score −1e9": -1e9, "score 0": 0.0}[fill]
    return qn.softmax(np.where(allowed, scores, np.float32(instead)))


def _attend(x: Array, allowed: Array, late: bool) -> Array:
    if late:
        weights = qn.softmax(x @ x.T / math.sqrt(x.shape[1]))  # (T, S)
        return weights * allowed @ x
    return qn.scaled_dot_product_attention(x, x, x, mask=allowed)[0]
