"""Milliseconds of a layer's parts against the length n.

One sentence, forward, float32, in NumPy; the time is that of the processor, which other programs
prolong less than a clock's. All parts of a row are timed in turn, and again, until the budget ends;
what counts is the shortest of each. `scores` makes a new array for its result, as an expression in
NumPy does; `scores, out=` writes into one that is there.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from qkv.experiments.stored_results import run_and_store
from qkv.numpy.attention.softmax import softmax_in_place

__all__ = ["check", "measure", "milliseconds", "parts_of_layer"]

HEAD = 64  # d_k, unless the heads are named: more width gives more heads
Array = np.ndarray[Any, Any]
Parts = dict[str, Callable[[], object]]


def measure(small: bool = False) -> dict[str, Any]:
    """Milliseconds of the parts, by n at d = 512.

    Returns:
        by_n: rows with n, d, gigaflops of each part and its milliseconds.
        peak: 10⁹ FLOPs a second of one product of two square matrices.
        threads: as the environment sets them; run it with OMP_NUM_THREADS=1.
    """
    lengths = (32, 64, 128) if small else (64, 256, 512, 1024, 2048, 4096)
    budget = 0.1 if small else 6.0
    return {
        "by_n": [_row(n, 128 if small else 512, budget) for n in lengths],
        "peak": round(_peak(256 if small else 1024), 1),
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
    }


def _row(n: int, d: int, budget: float) -> dict[str, Any]:
    parts = parts_of_layer(n, d)
    times = milliseconds(parts, budget)
    times["attention"] = times["scores"] + times["softmax"] + times["mix"]
    work = {"scores": 2 * n * n * d, "mix": 2 * n * n * d, "projections": 8 * n * d * d}
    work |= {"feed-forward": 16 * n * d * d, "recurrent": 4 * n * d * d}
    return {
        "n": n,
        "d": d,
        "gigaflops": {name: count / 1e9 for name, count in work.items()},
        "ms": {name: round(ms, 4) for name, ms in times.items()},
    }


def parts_of_layer(n: int, d: int, heads: int | None = None) -> Parts:
    """What is timed: each part of an encoder layer (d_ff = 4d), and a recurrent layer.

    Args:
        n: tokens.
        d: width.
        heads: None for as many as are 64 wide.
    """
    rng = np.random.default_rng(0)

    def draw(*shape: int) -> Array:
        return rng.standard_normal(shape, dtype=np.float32)

    heads = heads or max(1, d // HEAD)
    q, k, v = (draw(heads, n, d // heads) for _ in range(3))
    weights = softmax_in_place((q / math.sqrt(d // heads)) @ k.mT)  # (H, n, n)
    ready = np.empty_like(weights)
    x, hidden, w, w_ff = draw(n, d), draw(n, 4 * d), draw(d, d) / math.sqrt(d), draw(d, 4 * d)

    def recurrent() -> None:
        inputs, state = x @ w, np.zeros(d, np.float32)
        for row in inputs:
            state = np.tanh(row + state @ w)

    return {
        "scores": lambda: q @ k.mT,
        "scores, out=": lambda: np.matmul(q, k.mT, out=ready),
        "softmax": lambda: softmax_in_place(weights),  # its time does not depend on the numbers
        "mix": lambda: weights @ v,
        "projections": lambda: [x @ w for _ in range(4)],
        "feed-forward": lambda: (np.maximum(x @ w_ff, 0), hidden @ w_ff.T),
        "recurrent": recurrent,
    }


def milliseconds(parts: Parts, budget: float, rounds: int = 9) -> dict[str, float]:
    """The shortest time of each part, of at least two rounds after one that is not counted.

    Args:
        parts: functions by name; they are timed in turn.
        budget: seconds, after which no further round begins.
        rounds: at most.
    """
    best = dict.fromkeys(parts, math.inf)
    start = time.perf_counter()
    for number in range(rounds + 1):
        if number > 2 and time.perf_counter() - start > budget:
            break
        for name, part in parts.items():
            took = _once(part)
            best[name] = min(best[name], took) if number else best[name]
    return {name: 1e3 * seconds for name, seconds in best.items()}


def _once(part: Callable[[], object], least: float = 0.002) -> float:
    """Seconds of one run; short ones are repeated until they can be read off the clock."""
    runs, start = 0, time.process_time()
    while True:
        part()
        runs += 1
        seconds = time.process_time() - start
        if seconds > least:
            return seconds / runs


def _peak(size: int) -> float:
    """10⁹ FLOPs a second of a product of two (size, size) matrices."""
    a = np.random.default_rng(0).standard_normal((size, size), dtype=np.float32)
    out = np.empty_like(a)
    product: Parts = {"it": lambda: np.matmul(a, a, out=out)}
    best = milliseconds(product, budget=2.0, rounds=30)["it"]
    return 2 * size**3 / best / 1e6


def check(figures: dict[str, Any]) -> None:
    """Attention grows like n², the rest like n; a new array for the scores takes time."""
    assert all(ms > 0 for row in figures["by_n"] for ms in row["ms"].values())
    assert figures["peak"] > 1
    at = {row["n"]: row["ms"] for row in figures["by_n"]}
    if max(at) < 2048:
        return  # short sentences and a busy machine: nothing is claimed of them
    assert 10 < at[4096]["attention"] / at[1024]["attention"] < 25  # 16
    for part in ("projections", "feed-forward", "recurrent"):
        assert 3 < at[4096][part] / at[1024][part] < 5.3  # 4
    assert at[4096]["attention"] > at[4096]["projections"] + at[4096]["feed-forward"]
    assert at[4096]["scores"] > 1.1 * at[4096]["scores, out="]


if __name__ == "__main__":
    run_and_store("cost_time", measure)
