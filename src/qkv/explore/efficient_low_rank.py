"""Explorer of the chapter on long texts: the rank of attention matrices, and what r keeps."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.explore.framework.panels import Bars, Heatmap, Lines, Panels
from qkv.pretrained.induction import induction_model, repeated_blocks

Array = np.ndarray[Any, Any]

N = 16  # tokens: a block of 8 letters, twice
MATRICES = (
    "small random scores",
    "large random scores",
    "neighbours",
    "trained: previous token",
    "trained: induction",
)
RANKS = (1, 2, 4, 6, 8, 10, 12, 14, 16)


def rank(*, matrix: str, r: int) -> Panels:
    """An attention matrix, its best approximation of rank r, and the error against r.

    Args:
        matrix: one of MATRICES.
        r: rank of the approximation, 1 to N.
    """
    weights = attention_matrix(matrix)
    top, tokens = float(weights.max()), range(N)
    best = best_of_rank(weights, r)
    return {
        "weights": Heatmap(weights, tokens, tokens, limits=(0, top)),
        "approximation": Heatmap(best, tokens, tokens, colours="scores", limits=(-top, top)),
        "singular": Bars(np.linalg.svd(weights, compute_uv=False), range(1, N + 1)),
        "errors": Lines(
            RANKS,
            {
                "best of rank r": [error(weights, best_of_rank(weights, r)) for r in RANKS],
                "r pools": [error(weights, pooled(weights, r)) for r in RANKS],
            },
            x_label="r",
            y_label="error of the weights, relative",
            mark=r,
        ),
    }


@lru_cache
def attention_matrix(name: str) -> Array:
    """(N, N) attention weights: random queries and keys, a soft window, two trained heads."""
    if name.startswith("trained"):
        return _trained()[MATRICES.index(name) - 3]
    if name == "neighbours":
        distance = np.subtract.outer(np.arange(N), np.arange(N))
        return np.asarray(qn.softmax(-(distance**2) / 18))  # a bell, 3 tokens wide
    q, k = np.random.default_rng(0).normal(size=(2, N, 8)) * (0.5 if "small" in name else 2)
    weights = qn.scaled_dot_product_attention(q, k, k)[1]
    assert weights is not None  # for the type checker
    return weights


def best_of_rank(weights: Array, r: int) -> Array:
    """The matrix of rank r that is nearest to the weights: its r largest singular values.

    Source: Eckart and Young 1936.
    """
    u, s, v = np.linalg.svd(weights)
    return np.asarray((u[:, :r] * s[:r]) @ v[:r])


def pooled(weights: Array, r: int) -> Array:
    """Weights on r groups of neighbouring keys; the keys of a group share its weight equally."""
    groups = np.arange(N) * r // N
    members = groups[:, None] == np.arange(r)  # (N, r)
    return np.asarray(weights @ members @ (members / members.sum(axis=0)).T)


def error(weights: Array, approximation: Array) -> float:
    """‖approximation − weights‖ / ‖weights‖, Frobenius."""
    return float(np.linalg.norm(approximation - weights) / np.linalg.norm(weights))


@lru_cache
def _trained() -> tuple[Array, Array]:
    """The previous-token head and the induction head of the model of chapter 14."""
    maps: dict[str, Any] = {}
    induction_model()(repeated_blocks(np.random.default_rng(0), 1, N // 2), attention_maps=maps)
    first, second = (np.asarray(weights[0], dtype=float) for weights in maps.values())  # (H, T, T)
    at = np.arange(N // 2, N)
    previous = max(first, key=lambda head: head[at, at - 1].sum())
    induction = max(second, key=lambda head: head[at, at - N // 2 + 1].sum())
    return previous, induction
