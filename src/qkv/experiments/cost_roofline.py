"""The roofline of this machine, and where the operations of a Transformer lie under it.

An operation of arithmetic intensity I (FLOPs a byte) reaches at most min(peak, I · bandwidth). Here
are both, measured, and for each operation its FLOPs, the bytes that it has to move at least (each
array once), and its time. One core, float32, NumPy, processor time.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from qkv.experiments.cost_time import milliseconds
from qkv.experiments.stored_results import run_and_store
from qkv.numpy.attention.softmax import softmax_in_place

__all__ = ["check", "measure"]

Array = np.ndarray[Any, Any]
Row = dict[str, Any]
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def measure(small: bool = False) -> dict[str, Any]:
    """FLOPs, bytes and milliseconds of each operation.

    Returns:
        peak: 10⁹ FLOPs a second of a product of two square matrices.
        bandwidth: 10⁹ bytes a second, reading an array that no cache of this machine holds.
        width: of the linear layer, d → d; its weights do not fit into a cache either.
        rows: operation, batch (sentences), flops, bytes, ms.
        threads: as the environment sets them; run it with OMP_NUM_THREADS=1.
    """
    width, keys = (256, 128) if small else (4096, 4096)
    batches = (1, 8) if small else BATCHES
    budget = 0.05 if small else 3.0
    return {
        "peak": round(_peak(256 if small else 1024, budget), 1),
        "bandwidth": round(_bandwidth(2**20 if small else 2**26, budget), 1),
        "width": width,
        "keys": keys,
        "rows": [
            *(_linear(width, B, budget) for B in batches),
            *(_one_query(keys, B, budget) for B in batches if B in (1, 8, 32)),
            *_whole_sentence(128 if small else 2048, budget),
        ],
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
    }


def _draw(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def _peak(size: int, budget: float) -> float:
    a = _draw(size, size)
    out = np.empty_like(a)
    return 2 * size**3 / _time(lambda: np.matmul(a, a, out=out), budget) / 1e6


def _bandwidth(size: int, budget: float) -> float:
    a = _draw(size)
    times = milliseconds({"max": a.max, "sum": a.sum}, 3 * budget, rounds=100)
    return a.nbytes / min(times.values()) / 1e6


def _time(operation: Any, budget: float) -> float:
    return milliseconds({"it": operation}, budget, rounds=30)["it"]


def _row(operation: str, batch: int, flops: int, arrays: tuple[Array, ...], ms: float) -> Row:
    moved = sum(array.nbytes for array in arrays)
    return {
        "operation": operation,
        "batch": batch,
        "flops": flops,
        "bytes": moved,
        "ms": round(ms, 4),
    }


def _linear(d: int, batch: int, budget: float) -> Row:
    """One new token of each sentence through one linear layer."""
    x, w, out = _draw(batch, d), _draw(d, d), _draw(batch, d)
    ms = _time(lambda: np.matmul(x, w, out=out), budget)
    return _row("linear", batch, 2 * batch * d * d, (x, w, out), ms)


def _one_query(keys: int, batch: int, budget: float, heads: int = 8, d_k: int = 64) -> Row:
    """One new token of each sentence against its own cached keys."""
    q, k = _draw(batch, heads, 1, d_k), _draw(batch, heads, keys, d_k)
    out = _draw(batch, heads, 1, keys)
    ms = _time(lambda: np.matmul(q, k.mT, out=out), budget)
    return _row("one query", batch, 2 * batch * heads * keys * d_k, (q, k, out), ms)


def _whole_sentence(n: int, budget: float, heads: int = 8, d_k: int = 64) -> list[Row]:
    """All queries of one sentence at once; softmax is counted as five operations an entry."""
    q, k, scores = _draw(heads, n, d_k), _draw(heads, n, d_k), _draw(heads, n, n)
    x, y = _draw(n, heads * d_k), _draw(n, heads * d_k)
    product = _time(lambda: np.matmul(q, k.mT, out=scores), budget)
    softmax = _time(lambda: softmax_in_place(scores), budget)
    add = _time(lambda: np.add(x, y, out=x), budget)
    return [
        _row("all queries", 1, 2 * scores.size * d_k, (q, k, scores), product),
        _row("softmax", 1, 5 * scores.size, (scores, scores), softmax),
        _row("residual", 1, x.size, (x, y, x), add),
    ]


def check(figures: dict[str, Any]) -> None:
    """A batch uses the weights that it reads more often: it is faster for each sentence."""
    rows = figures["rows"]
    assert figures["peak"] > 1
    assert figures["bandwidth"] > 0.1
    assert all(row["ms"] > 0 for row in rows)
    if figures["width"] < 4096:
        return  # a small run on a busy machine: no time is claimed of it
    linear = {r["batch"]: r for r in rows if r["operation"] == "linear"}
    each = {B: row["ms"] / B for B, row in linear.items()}
    assert each[256] < each[1] / 4
    rate = {B: row["flops"] / row["ms"] / 1e6 for B, row in linear.items()}
    assert rate[1] < 0.3 * figures["peak"]
    assert rate[256] > 0.7 * figures["peak"]
    queries = {r["batch"]: r["ms"] / r["batch"] for r in rows if r["operation"] == "one query"}
    assert queries[32] > queries[1] / 2  # each sentence has keys of its own to read


if __name__ == "__main__":
    run_and_store("cost_roofline", measure)
