"""The rank of attention matrices, and what the best of rank r keeps: for the long texts."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import qkv.numpy as qn
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
