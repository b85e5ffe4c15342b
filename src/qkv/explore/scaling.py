"""How the width d_k drives softmax from a mixture to a single winner, and what √d_k mends."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.explore.panels import Bars, Heatmap
from qkv.numpy import softmax

Array = NDArray[Any]

TOKENS = ("a", "fluffy", "blue", "creature", "roamed", "the", "verdant", "forest")
DRAWS = 32  # the histogram and the numbers average over these; the picture shows the first
BIN = 4  # width of a bar of the histogram, in units of score
WIDEST = 64  # centre of the outermost bars, which also hold whatever lies beyond


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


def histogram(scores: Array) -> tuple[Array, list[str]]:
    """How many scores lie in each bar of width BIN, the fullest bar being 1, and the bars' centres.

    Relative to the fullest, because a wide and a narrow distribution are then equally tall and
    the eye compares their widths.
    """
    centres = np.arange(-WIDEST, WIDEST + 1, BIN)
    bars = np.rint(np.clip(scores, -WIDEST, WIDEST) / BIN).astype(int) + WIDEST // BIN
    counts = np.bincount(bars.ravel(), minlength=len(centres))
    return counts / counts.max(), [f"{centre}" for centre in centres]


def saturation(d_k: int, n_heads: int, scaled: bool, seed: int = 0) -> dict[str, Any]:
    """Scores, weights and gradient of n_heads heads of width d_k, before any training.

    Args:
        d_k: width of each head's queries and keys.
        n_heads: heads, each with draws of its own.
        scaled: divide the scores by √d_k.
        seed: the first head's draws come from (seed, 0), the second's from (seed, 1), ...
    Returns:
        Panels: weights (n_heads, 8, 8) of one draw, a histogram of scores (33,), the Jacobian's
        norm (8,) for each query, and four numbers averaged over DRAWS draws and all heads.
    """
    heads = [
        draw(np.random.default_rng((seed, h)), DRAWS, len(TOKENS), d_k) for h in range(n_heads)
    ]
    scale = 1 / math.sqrt(d_k) if scaled else 1.0
    scores = np.stack([q @ k.swapaxes(-1, -2) * scale for q, k in heads])  # (H, DRAWS, 8, 8)
    weights = softmax(scores)
    norms = jacobian_norm(weights)  # (H, DRAWS, 8)
    heights, centres = histogram(scores)
    return {
        "weights": Heatmap(weights[:, 0], rows=list(TOKENS), columns=list(TOKENS)),
        "scores by size, fullest bar = 1": Bars(heights, labels=centres, limits=(0.0, 1.0)),
        "norm of softmax's Jacobian, by query": Bars(
            norms[:, 0].mean(axis=0), labels=list(TOKENS), limits=(0.0, 0.5)
        ),
        "variance of the scores": f"{scores.var():.3g}",
        "effective tokens, of 8": f"{effective_tokens(weights).mean():.2f}",
        "largest weight": f"{weights.max(axis=-1).mean():.3f}",
        "norm of the Jacobian": f"{norms.mean():.3f}",
    }
