"""What FLOPs do not tell: the seconds of attention by the number of heads, and of one decode step.

The FLOPs of attention do not depend on the heads. Measured here: scores, softmax and mix with few
and many (narrower) heads, as in `cost_time`. Then one step of a model that writes, in plain NumPy,
beside the least seconds of the roofline. One core, float32, processor time.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from qkv.experiments.cost_time import Parts, milliseconds, parts_of_layer
from qkv.experiments.stored_results import run_and_store
from qkv.numpy.attention.softmax import softmax_in_place

__all__ = ["check", "measure"]

PARTS = ("scores", "softmax", "mix")


def measure(small: bool = False) -> dict[str, Any]:
    """Milliseconds by n and heads at d = 512, and of one step.

    Returns:
        by_heads: rows with n, heads, ms of scores, softmax, mix, and of the rest of the layer.
        step: texts, cached tokens n, d, layers, and ms of the weight matrices and of the caches.
        threads: as the environment sets them; run it with OMP_NUM_THREADS=1.
    """
    sizes = ((64, 1), (64, 4)) if small else ((1024, 1), (1024, 8), (1024, 32), (3072, 1))
    d, budget = (64, 0.1) if small else (512, 5.0)
    return {
        "by_heads": [_row(n, d, heads, budget) for n, heads in sizes],
        "step": _step(20, 32, 2, budget) if small else _step(1000, 512, 6, budget),
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
    }


def _row(n: int, d: int, heads: int, budget: float) -> dict[str, Any]:
    parts = parts_of_layer(n, d, heads)
    names = (*PARTS, "projections", "feed-forward")
    times = milliseconds({name: parts[name] for name in names}, budget)
    rest = times["projections"] + times["feed-forward"]
    ms = {name: round(times[name], 2) for name in PARTS} | {"the rest": round(rest, 2)}
    return {"n": n, "d": d, "heads": heads, "ms": ms}


def _step(n: int, d: int, layers: int, budget: float, heads: int = 8) -> dict[str, Any]:
    """One new token of one text: all weight matrices; then scores, softmax and mix, all caches."""
    rng = np.random.default_rng(0)

    def draw(*shape: int) -> np.ndarray[Any, Any]:
        return rng.standard_normal(shape, dtype=np.float32)

    square = [[draw(d, d) for _ in range(4)] for _ in range(layers)]
    wide = [(draw(d, 4 * d), draw(4 * d, d)) for _ in range(layers)]
    caches = [(draw(heads, n, d // heads), draw(heads, n, d // heads)) for _ in range(layers)]
    x, q, scale = draw(1, d), draw(heads, 1, d // heads), math.sqrt(d // heads)

    def weights() -> None:
        for four, (up, down) in zip(square, wide, strict=True):
            for w in four:
                x @ w
            np.maximum(x @ up, 0) @ down

    def attention() -> None:
        for keys, values in caches:
            softmax_in_place(q @ keys.mT / scale) @ values

    parts: Parts = {"weights": weights, "caches": attention}
    times = milliseconds(parts, budget, rounds=30)
    ms = {name: round(took, 2) for name, took in times.items()}
    return {"texts": 1, "n": n, "d": d, "layers": layers, "ms": ms}


def check(figures: dict[str, Any]) -> None:
    """At equal d many narrow heads take longer; with one head both halves are near at n = 6d."""
    assert all(ms > 0 for row in figures["by_heads"] for ms in row["ms"].values())
    assert all(ms > 0 for ms in figures["step"]["ms"].values())
    at = {(row["n"], row["heads"]): row["ms"] for row in figures["by_heads"]}
    if (3072, 1) not in at:
        return  # a small run on a busy machine: nothing is claimed of it
    took = {size: sum(ms[part] for part in PARTS) for size, ms in at.items()}
    assert took[1024, 32] > 1.5 * took[1024, 8] > 2 * took[1024, 1]
    assert took[1024, 32] > at[1024, 32]["the rest"] > took[1024, 8]
    assert 0.8 < took[3072, 1] / at[3072, 1]["the rest"] < 1.25


if __name__ == "__main__":
    run_and_store("cost_heads", measure)
