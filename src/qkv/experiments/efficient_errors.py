"""Attention made cheaper: error against the exact output, memory and time of each method.

Every method has the same budget, 128: so many keys a query, summaries, or features (a little more
or fewer in the patterns). One head in float32, both directions, no mask beside the pattern's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.corpus import sentences
from qkv.experiments.efficient_blocks import milliseconds, numpy_peak
from qkv.experiments.stored import run_and_store
from qkv.pretrained import pretrained

__all__ = ["INPUTS", "METHODS", "check", "draw", "measure", "method", "pattern", "relative_error"]

Array = np.ndarray[Any, Any]
D_K, BUDGET = 32, 128
INPUTS = ("random", "local", "trained")
PATTERNS = ("window", "strided", "window + global", "BigBird")
METHODS = (*PATTERNS, "Linformer, means", "Linformer, random", "Performer", "mean of all values")
MEASURED = ("exact", "blocks", "window", "window in slices", "Linformer, means", "Performer")
Method = Callable[[Array, Array, Array], Array]


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


def trained(n: int, seed: int) -> tuple[Array, Array, Array]:
    """The second head of the encoder's first layer, on sentences in random order."""
    translator = pretrained("numpy")
    pairs, ids = list(sentences()), list[int]()
    Random(seed).shuffle(pairs)
    for pair in pairs:
        ids.extend(translator.source.encode(" ".join(pair.source), eos=True))
        if len(ids) >= n:
            break
    model = translator.model.eval()
    x, _ = model.source_inputs(model.source_embedding(np.array([ids[:n]])))  # (1, n, d_model)
    layer: Any = model.encoder.layers[0].self_attention
    q, k, v = (qn.split_heads(w(x), 2)[:, 1:] for w in (layer.w_q, layer.w_k, layer.w_v))
    return q, k, v


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


def method(name: str, n: int, d_k: int = D_K, seed: int = 0) -> Method:
    """A method of METHODS or MEASURED as a function of q, k and v; what it draws is drawn here."""
    rng = np.random.default_rng(seed)
    if name == "exact":
        return lambda q, k, v: qn.scaled_dot_product_attention(q, k, v)[0]
    if name == "blocks":
        return lambda q, k, v: qn.blockwise_attention(q, k, v, block_size=BUDGET)[0]
    if name in PATTERNS:
        mask = pattern(name, n, seed)
        return lambda q, k, v: qn.scaled_dot_product_attention(q, k, v, mask=mask)[0]
    if name == "window in slices":
        return lambda q, k, v: window_in_slices(q, k, v, 64)
    if name.startswith("Linformer"):
        e = means(n) if name.endswith("means") else rng.normal(size=(n, BUDGET)) / BUDGET**0.5
        e = e.astype(np.float32)
        return lambda q, k, v: qn.linformer_attention(q, k, v, e, e)[0]
    if name == "Performer":
        features = qn.orthogonal_random_features(d_k, BUDGET, rng=rng)
        return lambda q, k, v: qn.performer_attention(q, k, v, features)
    return lambda q, k, v: np.broadcast_to(v.mean(-2, keepdims=True), v.shape)


def means(n: int) -> Array:
    """The (n, 128) matrix whose columns average n / 128 neighbours each."""
    groups = np.arange(n) * BUDGET // n
    members = groups[:, None] == np.arange(BUDGET)  # (n, 128)
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


def relative_error(out: Array, exact: Array) -> float:
    """|out − exact| / |exact|, of all numbers together; all zeros have an error of 1."""
    return float(np.linalg.norm(out - exact) / np.linalg.norm(exact))


def scores_needed(name: str, n: int) -> int:
    """Numbers that stand between input and output: scores, or features of queries and keys."""
    if name in PATTERNS:
        return int(pattern(name, n).sum())
    return {"exact": n * n, "blocks": BUDGET**2, "Performer": 2 * n * BUDGET}.get(name, n * BUDGET)


def measure(small: bool = False) -> dict[str, Any]:
    """Errors, numbers, bytes and milliseconds.

    Returns:
        lengths: n of all that follows.
        errors: input -> method -> [lowest, highest] of the seeds, for each length.
        near: input -> share of the exact weights within the window of 64, for each length.
        needed: method -> numbers between input and output, for each length.
        bytes, ms: way of MEASURED -> peak of allocated bytes, processor time, for each length;
            "window" is a mask in attention that computes every score.
        seeds, budget, threads: of all of it.
    """
    lengths, seeds, rounds = ((128, 512), 1, 2) if small else ((256, 512, 1024, 2048, 4096), 3, 5)
    errors: dict[str, Any] = {kind: {name: [] for name in METHODS} for kind in INPUTS}
    near: dict[str, list[float]] = {kind: [] for kind in INPUTS}
    used: dict[str, Any] = {what: {name: [] for name in MEASURED} for what in ("bytes", "ms")}
    for n in lengths:
        for kind in INPUTS:
            found: dict[str, list[float]] = {name: [] for name in METHODS}
            for seed in range(seeds):
                q, k, v = draw(kind, n, seed)
                exact, weights = qn.scaled_dot_product_attention(q, k, v)
                for name in METHODS:
                    out = method(name, n, seed=seed)(q, k, v)
                    found[name].append(relative_error(out, exact))
            assert weights is not None
            near[kind].append(round(float((weights * qn.window_mask(n, 64)).sum() / n), 3))
            for name, values in found.items():
                errors[kind][name].append([round(min(values), 3), round(max(values), 3)])
        q, k, v = draw("random", n, 0)
        calls = {name: partial(method(name, n), q, k, v) for name in MEASURED}
        for name, value in milliseconds(calls, rounds).items():
            used["ms"][name].append(value)
            used["bytes"][name].append(numpy_peak(calls[name]))
    needed = {
        name: [scores_needed(name, n) for n in lengths]
        for name in ("exact", "blocks", *PATTERNS, "Linformer, means", "Performer")
    }
    return {
        "lengths": lengths,
        "errors": errors,
        "near": near,
        "needed": needed,
        **used,
        "seeds": seeds,
        "budget": BUDGET,
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
    }


def check(figures: dict[str, Any]) -> None:
    """No method is close on random or trained inputs; a window is, where the weights are near."""
    errors, near = figures["errors"], figures["near"]
    last = figures["lengths"][-1]
    for name in METHODS:
        for kind in ("random", "trained"):
            assert errors[kind][name][-1][0] > 0.4
    for name in PATTERNS:  # worse than no attention at all
        assert errors["random"][name][-1][0] > errors["random"]["mean of all values"][-1][1]
        assert errors["local"][name][-1][1] < 0.35
        assert figures["needed"][name][-1] < 1.5 * figures["budget"] * last
    assert near["local"][-1] > 0.85
    assert max(near["random"][-1], near["trained"][-1]) < 0.3
    assert errors["random"]["Linformer, random"][-1][0] > 2
    used = figures["bytes"]
    assert used["window"][-1] > 0.9 * used["exact"][-1]  # a mask saves nothing
    if last >= 2048:
        for name in ("blocks", "window in slices", "Linformer, means", "Performer"):
            assert used[name][-1] < used["exact"][-1] / 3
        assert figures["ms"]["window in slices"][-1] < figures["ms"]["exact"][-1] / 2
        assert figures["ms"]["window"][-1] > 0.9 * figures["ms"]["exact"][-1]


if __name__ == "__main__":
    run_and_store("efficient_errors", measure)
