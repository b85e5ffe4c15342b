"""Explorer of the chapter on scaling: softmax saturates as d_k grows, unless √d_k divides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.explore.framework.panels import Bars, Heatmap
from qkv.numpy import softmax

Array = NDArray[Any]

TOKENS = ("a", "fluffy", "blue", "creature", "roamed", "the", "verdant", "forest")
DRAWS = 32  # the bars and the numbers are taken over these; the map of weights shows the first
OCTAVES = range(-2, 7)  # a bar for scores of about 2^i; the outer ones hold whatever lies beyond


def draw(rng: np.random.Generator, n: int, tokens: int, d_k: int) -> tuple[Array, Array]:
    """Queries and keys with independent entries of mean 0 and variance 1.

    Returns:
        q and k, each (n, tokens, d_k). Drawn column by column, so that for one seed a narrower
        draw is the first columns of a wider one.
    """
    columns = rng.standard_normal((d_k, 2, n, tokens))
    q, k = np.moveaxis(columns, 0, -1)
    return q, k


def effective_tokens(weights: Array) -> Array:
    """How many equally weighted tokens would have the same entropy: 2^H, H = −Σ w log₂ w.

    Args:
        weights: (..., S), rows that sum to 1.
    Returns:
        (...), between 1 (one winner) and S (uniform).
    """
    logs = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
    effective: Array = np.exp2(-(weights * logs).sum(axis=-1))
    return effective


def jacobian_norm(weights: Array) -> Array:
    """Frobenius norm of softmax's Jacobian diag(w) − w wᵀ, written out in powers of w.

    Args:
        weights: (..., S), softmax's output.
    Returns:
        (...), from 0 (one winner) to 1/2 (two equal weights).
    """
    square = (weights**2).sum(axis=-1)
    cube = (weights**3).sum(axis=-1)
    norm: Array = np.sqrt(np.maximum(square - 2 * cube + square**2, 0))  # rounding dips below 0
    return norm


def sizes(scores: Array) -> tuple[Array, list[str]]:
    """Share of the scores of about each size, sign left out, and the sizes: ¼, ½, 1, ... 64.

    Each bar is twice as far as the last, because on an even axis either the narrow distribution
    is one spike or the wide one leaves the picture. Four times d_k, unscaled, is one bar further.
    """
    exponents = np.rint(np.log2(np.maximum(np.abs(scores), 2.0 ** OCTAVES[0])))
    bars = np.clip(exponents, OCTAVES[0], OCTAVES[-1]).astype(int) - OCTAVES[0]
    shares = np.bincount(bars.ravel(), minlength=len(OCTAVES)) / bars.size
    return shares, ["≤ ¼", "½", *(str(2**i) for i in OCTAVES[2:-1]), f"≥ {2 ** OCTAVES[-1]}"]


def saturation(d_k: int, n_heads: int, scaled: bool, seed: int = 0) -> dict[str, Any]:
    """Scores, weights and gradient of n_heads heads of width d_k, before any training.

    Args:
        d_k: width of each head's queries and keys.
        n_heads: heads, each with draws of its own.
        scaled: divide the scores by √d_k.
        seed: the first head's draws come from (seed, 0), the second's from (seed, 1), ...
    Returns:
        Panels: weights (n_heads, 8, 8) of one draw, the scores' sizes (9,), and four numbers, both
        taken over DRAWS draws and all heads.
    """
    heads = [
        draw(np.random.default_rng((seed, h)), DRAWS, len(TOKENS), d_k) for h in range(n_heads)
    ]
    scale = 1 / math.sqrt(d_k) if scaled else 1.0
    scores = np.stack([q @ k.swapaxes(-1, -2) * scale for q, k in heads])  # (H, DRAWS, 8, 8)
    weights = softmax(scores)
    shares, about = sizes(scores)
    return {
        "weights": Heatmap(weights[:, 0], rows=list(TOKENS), columns=list(TOKENS)),
        "share of scores of each size, sign left out": Bars(shares, labels=about),
        "variance of the scores": f"{scores.var():.3g}",
        "mean effective tokens, of 8": f"{effective_tokens(weights).mean():.2f}",
        "mean largest weight": f"{weights.max(axis=-1).mean():.3f}",
        "mean norm of the Jacobian": f"{jacobian_norm(weights).mean():.3f}",
    }
