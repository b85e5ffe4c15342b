"""Explorer of the chapter on multi-head attention: heads, their width, and what they cost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.explore.framework.panels import Heatmap, Panels, Table

Array = np.ndarray[Any, Any]

TOKENS = ("The", "dog", "chased", "a", "small", "cat")
# What each head looks for: for each token, the position of the one that it should find.
RELATIONS = {
    "the word before": (0, 0, 1, 2, 3, 4),
    "the verb": (2, 2, 2, 2, 2, 2),
    "the word after": (1, 2, 3, 4, 5, 5),
    "itself": (0, 1, 2, 3, 4, 5),
    "the last word": (5, 5, 5, 5, 5, 5),
    "two words before": (0, 0, 0, 1, 2, 3),
    "two words after": (2, 3, 4, 5, 5, 5),
    "the first word": (0, 0, 0, 0, 0, 0),
}
D_MODEL = (8, 32, 128, 512)
N_HEADS = (1, 2, 4, 8)
D_K = tuple(2**n for n in range(10))
FOLLOW = {(d, h): d // h for d in D_MODEL for h in N_HEADS}  # d_k = d_model / heads


def heads(*, d_model: int, n_heads: int, d_k: int) -> Panels:
    """Weights of heads that each look for another word, with random keys of width d_k; the cost.

    A key has d_k random entries, +1 or −1, and a query is the key of the word that it looks for.
    So the right score is d_k / √d_k = √d_k, and each other score has mean 0 and variance 1.

    Args:
        d_model: width of the tokens.
        n_heads: number of heads, the first of RELATIONS.
        d_k: width of a head's queries, keys and values.
    """
    maps = np.stack([head_weights(head, d_k) for head in range(n_heads)])  # (H, T, S)
    found = [right_weight(head, d_k) for head in range(n_heads)]
    rows = [
        [n + 1, name, f"{w:.2f}"] for n, (name, w) in enumerate(zip(RELATIONS, found, strict=False))
    ]
    ours, full = cost(d_model, n_heads, d_k), cost(d_model, 1, d_model)
    return {
        "maps": Heatmap(maps, TOKENS, TOKENS, colours="weights"),
        "found": Table(["head", "looks for", "weight on it"], rows),
        "cost": Table(
            ["", "these heads", "one head, d_k = d_model"],
            [[name, f"{ours[name]:,}", f"{full[name]:,}"] for name in ours],
        ),
    }


def cost(d_model: int, n_heads: int, d_k: int, tokens: int = len(TOKENS)) -> dict[str, int]:
    """Parameters without biases, FLOPs of all matrix products, and attention weights; d_v = d_k."""
    width = n_heads * d_k
    parameters = 4 * d_model * width
    products = 2 * tokens * parameters + 2 * 2 * tokens**2 * width
    return {"parameters": parameters, "FLOPs": products, "weights": n_heads * tokens**2}


def head_weights(head: int, d_k: int) -> Array:
    """(T, S) weights of one head."""
    signs = np.random.default_rng(head).choice([-1.0, 1.0], size=(len(TOKENS), D_K[-1]))
    keys = signs[:, :d_k]  # (S, d_k)
    queries = keys[list(list(RELATIONS.values())[head])]  # (T, d_k)
    weights: Array = qn.softmax(queries @ keys.T / math.sqrt(d_k))
    return weights


def right_weight(head: int, d_k: int) -> float:
    """Weight on the word that the head looks for, the mean over the queries."""
    wanted = list(RELATIONS.values())[head]
    weights = head_weights(head, d_k)
    return float(np.mean([weights[i, j] for i, j in enumerate(wanted)]))
