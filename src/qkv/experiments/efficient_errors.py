"""Attention made cheaper: error against the exact output, memory and time of each method.

Every method has the same budget, 128, but for one comparison of budgets. All in float32.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.experiments.efficient_blocks import milliseconds, numpy_peak
from qkv.experiments.models.efficient_methods import (
    BUDGET,
    HEADS,
    INPUTS,
    PATTERNS,
    Array,
    best_keys,
    draw,
    method,
    pattern,
    trained,
)
from qkv.experiments.stored_results import run_and_store

__all__ = ["METHODS", "check", "measure", "relative_error"]

METHODS = (*PATTERNS, "Linformer, means", "Linformer, random", "Performer", "mean of all values")
MEASURED = ("exact", "blocks", "window", "window in slices", "Linformer, means", "Performer")
BUDGETS, WITH_BUDGET = (32, 128, 512), ("window", "Linformer, means", "Performer")


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
        budgets: input -> method -> error for a budget of 32, 128 and 512, at n = 1,024; one seed.
        heads: method, and "best keys" -> error at n = 1,024 for each of HEADS; one seed.
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
    budgets = {
        kind: {name: _by_budget(kind, name, small) for name in WITH_BUDGET} for kind in INPUTS
    }
    needed = {
        name: [scores_needed(name, n) for n in lengths]
        for name in ("exact", "blocks", *PATTERNS, "Linformer, means", "Performer")
    }
    return {
        "lengths": lengths,
        "errors": errors,
        "near": near,
        "budgets": budgets,
        "heads": _by_head(small),
        "needed": needed,
        **used,
        "seeds": seeds,
        "budget": BUDGET,
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
    }


def _by_budget(kind: str, name: str, small: bool) -> list[float]:
    n = 512 if small else 1024
    q, k, v = draw(kind, n, 0)
    exact, _ = qn.scaled_dot_product_attention(q, k, v)
    outputs = (method(name, n, budget=budget)(q, k, v) for budget in BUDGETS)
    return [round(relative_error(out, exact), 3) for out in outputs]


def _by_head(small: bool) -> dict[str, list[float]]:
    n = 512 if small else 1024
    calls = {"best keys": best_keys, **{name: method(name, n) for name in METHODS}}
    found: dict[str, list[float]] = {name: [] for name in calls}
    for layer, head in HEADS:
        q, k, v = trained(n, 0, layer, head)
        exact, _ = qn.scaled_dot_product_attention(q, k, v)
        for name, call in calls.items():
            found[name].append(round(relative_error(call(q, k, v), exact), 3))
    return found


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
    heads = figures["heads"]
    chosen = HEADS.index((0, 1))  # the head of "trained": its weight is on few keys
    for name in METHODS:
        assert heads["best keys"][chosen] < heads[name][chosen] / 2
    used = figures["bytes"]
    assert used["window"][-1] > 0.9 * used["exact"][-1]  # a mask saves nothing
    if last >= 2048:
        for name in ("blocks", "window in slices", "Linformer, means", "Performer"):
            assert used[name][-1] < used["exact"][-1] / 3
        assert figures["ms"]["window in slices"][-1] < figures["ms"]["exact"][-1] / 2
        assert figures["ms"]["window"][-1] > 0.9 * figures["ms"]["exact"][-1]


if __name__ == "__main__":
    run_and_store("efficient_errors", measure)
