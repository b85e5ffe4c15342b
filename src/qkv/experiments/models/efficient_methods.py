"""Attention made cheaper: the methods that are compared, and the inputs that they are given.

One head, both directions, no mask beside a pattern's own. A method's budget is the number of keys
a query, of summaries, or of features (a little more or fewer in the patterns).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

import numpy as np

import qkv.numpy as qn
from qkv.corpus import sentences
from qkv.pretrained import pretrained

__all__ = [
    "BUDGET",
    "HEADS",
    "INPUTS",
    "PATTERNS",
    "Method",
    "best_keys",
    "draw",
    "method",
    "pattern",
    "trained",
]

Array: TypeAlias = np.ndarray[Any, Any]
Method: TypeAlias = Callable[[Array, Array, Array], Array]
D_K, BUDGET = 32, 128
INPUTS = ("random", "local", "trained")
HEADS = ((0, 0), (0, 1), (1, 0), (1, 1))  # layer and head of the trained encoder, from 0
PATTERNS = ("window", "strided", "window + global", "BigBird")


def draw(kind: str, n: int, seed: int) -> tuple[Array, Array, Array]:
    """Queries, keys and values (1, 1, n, 32) of one kind of INPUTS.

    "random": independent, mean 0, variance 1. "local": q = k, which change slowly along the text,
    so that near positions fit best. "trained": a head of the model that ships reads n tokens of
    sentences one after another; it was trained on one at a time.
    """
    rng = np.random.default_rng(seed)
    if kind == "trained":
        return trained(n, seed)
    q, k, v = rng.normal(size=(3, 1, 1, n, D_K)).astype(np.float32)
    if kind == "local":
        distance = np.arange(-48, 49)
        bell = np.exp(-(distance**2) / (2 * 8**2))
        bell /= np.sqrt((bell**2).sum())  # keeps the variance 1
        noise = rng.normal(size=(D_K, n + 96))
        smooth = np.array([np.convolve(row, bell, "valid") for row in noise])  # (d_k, n)
        q = k = 1.5 * smooth.T[None, None].astype(np.float32)
    return q, k, v


def trained(n: int, seed: int, layer: int = 0, head: int = 1) -> tuple[Array, Array, Array]:
    """A head of HEADS, by default the second of the first layer; sentences in random order."""
    translator = pretrained("numpy")
    pairs, ids = list(sentences()), list[int]()
    Random(seed).shuffle(pairs)
    for pair in pairs:
        ids.extend(translator.source.encode(" ".join(pair.source), eos=True))
        if len(ids) >= n:
            break
    model = translator.model.eval()
    x, _ = model.source_inputs(model.source_embedding(np.array([ids[:n]])))  # (1, n, d_model)
    layers: Any = model.encoder.layers
    for below in layers[:layer]:
        x = below(x)
    attention = layers[layer].self_attention
    one = slice(head, head + 1)
    maps = (attention.w_q, attention.w_k, attention.w_v)
    q, k, v = (qn.split_heads(w(x), 2)[:, one] for w in maps)
    return q, k, v


def best_keys(q: Array, k: Array, v: Array) -> Array:
    """Attention to the BUDGET keys with the highest scores of each query, for comparison only.

    It computes all scores to find them, so it saves nothing. No other BUDGET keys have more weight,
    but others can have a smaller error, where the weights are spread.
    """
    scores = q @ k.swapaxes(-1, -2)
    least = np.sort(scores, axis=-1)[..., -BUDGET, None]
    return qn.scaled_dot_product_attention(q, k, v, mask=scores >= least)[0]


def pattern(name: str, n: int, seed: int = 0) -> Array:
    """A (1, 1, n, n) mask of PATTERNS that allows about 128 keys a query."""
    if name == "window":
        return qn.window_mask(n, 64)
    if name == "strided":
        return qn.window_mask(n, 32) | qn.strided_mask(n, max(1, n // 64))
    mask = qn.global_mask(n, range(16))
    if name == "window + global":
        return mask | qn.window_mask(n, 56)
    drawn = np.random.default_rng(seed).random((1, 1, n, n)) < 64 / n
    return mask | qn.window_mask(n, 24) | drawn


def method(name: str, n: int, *, seed: int = 0, budget: int = BUDGET) -> Method:
    """A method of this name as a function of q, k and v; what it draws is drawn here.

    Args:
        name: one of PATTERNS, "exact", "blocks", "window in slices", "Linformer, means",
            "Linformer, random", "Performer" or "mean of all values".
        n: tokens.
        seed: of what is drawn.
        budget: of a window, of Linformer and of Performer.
    """
    rng = np.random.default_rng(seed)
    if name == "exact":
        return lambda q, k, v: qn.scaled_dot_product_attention(q, k, v)[0]
    if name == "blocks":
        return lambda q, k, v: qn.blockwise_attention(q, k, v, block_size=BUDGET)[0]
    if name in PATTERNS:
        mask = pattern(name, n, seed) if name != "window" else qn.window_mask(n, budget // 2)
        return lambda q, k, v: qn.scaled_dot_product_attention(q, k, v, mask=mask)[0]
    if name == "window in slices":
        return lambda q, k, v: window_in_slices(q, k, v, budget // 2)
    if name.startswith("Linformer"):
        drawn = rng.normal(size=(n, budget)) / budget**0.5
        e = (means(n, budget) if name.endswith("means") else drawn).astype(np.float32)
        return lambda q, k, v: qn.linformer_attention(q, k, v, e, e)[0]
    if name == "Performer":
        features = qn.orthogonal_random_features(D_K, budget, rng=rng)
        return lambda q, k, v: qn.performer_attention(q, k, v, features)
    return lambda q, k, v: np.broadcast_to(v.mean(-2, keepdims=True), v.shape)


def means(n: int, r: int) -> Array:
    """The (n, r) matrix whose columns average n / r neighbours each."""
    groups = np.arange(n) * r // n
    members = groups[:, None] == np.arange(r)  # (n, r)
    return np.asarray(members / members.sum(0))


def window_in_slices(q: Array, k: Array, v: Array, window: int) -> Array:
    """Window attention that computes no score outside: `window` queries at a time."""
    out = np.empty_like(v)
    n = q.shape[-2]
    for start in range(0, n, window):
        rows = slice(start, min(start + window, n))
        cols = slice(max(0, start - window), min(n, start + 2 * window))
        far = np.arange(rows.start, rows.stop)[:, None] - np.arange(cols.start, cols.stop)
        near = slice(cols.start, cols.stop)
        part = qn.scaled_dot_product_attention(
            q[..., rows, :], k[..., near, :], v[..., near, :], mask=abs(far) <= window
        )
        out[..., rows, :] = part[0]
    return out
