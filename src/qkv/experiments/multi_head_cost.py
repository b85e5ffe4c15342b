"""What heads cost, and what positions computed one after another cost: forward, one thread.

Attention is causal in all of them. Times are of the processor, so that what else runs on
the machine counts little.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.experiments.stored_results import run_and_store

__all__ = ["check", "measure"]

D_MODEL = 512


def measure(small: bool = False) -> dict[str, Any]:
    """Milliseconds of one sentence in float32, the best of several runs; attention is causal.

    Returns:
        tokens, heads: of `layer`, which holds a row for each length, a time for each number of
            heads.
        recurrent, one_by_one: at the last length: a recurrent network of width d_model, and
            attention for one position after another, for each number of heads.
        calls: one position after another at d_model = 8, with one head, where there is little to
            compute: about what the calls themselves cost.
        threads: as the environment sets them; run it with OMP_NUM_THREADS=1.
    """
    tokens, heads, repeats = ((16, 64), (1, 8), 3) if small else ((64, 256, 1024), (1, 8, 64), 9)
    rng = np.random.default_rng(0)
    layers = [qn.MultiHeadAttention(D_MODEL, h, rng=rng) for h in heads]
    narrow = qn.MultiHeadAttention(8, 1, rng=rng)
    for layer in (*layers, narrow):
        layer.eval()
    x = rng.normal(size=(1, tokens[-1], D_MODEL)).astype(np.float32)
    w = (rng.normal(size=(2, D_MODEL, D_MODEL)) / D_MODEL**0.5).astype(np.float32)
    slow = max(1, repeats // 3)
    return {
        "tokens": tokens,
        "heads": heads,
        "layer": [
            [milliseconds(m, x[:, :T], repeats=repeats, causal=True) for m in layers]
            for T in tokens
        ],
        "recurrent": milliseconds(recurrent, x[0], *w, repeats=repeats),
        "one_by_one": [milliseconds(one_by_one, m, x, repeats=slow) for m in layers],
        "calls": milliseconds(one_by_one, narrow, x[..., :8], repeats=slow),
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
    }


def recurrent(x: Any, w_in: Any, w_state: Any) -> Any:
    """h_t = tanh(x_t W_in + h_(t−1) W_state): each state waits for the one before it."""
    inputs, state = x @ w_in, np.zeros(D_MODEL, x.dtype)
    for row in inputs:
        state = np.tanh(row + state @ w_state)
    return state


def one_by_one(layer: qn.MultiHeadAttention, x: Any) -> None:
    """Causal attention for one position after another, earlier keys and values kept."""
    cache = qn.KeyValueCache()
    for i in range(x.shape[1]):
        layer(x[:, i : i + 1], cache=cache)


def milliseconds(
    function: Callable[..., object], *args: object, repeats: int, **options: object
) -> float:
    """The processor's time of the shortest of several runs, after one that is not counted."""
    times = []
    for _ in range(repeats + 1):
        start = time.process_time()
        function(*args, **options)
        times.append(time.process_time() - start)
    return round(1e3 * min(times[1:]), 3)


def check(figures: dict[str, Any]) -> None:
    """Eight heads cost less than 1.5 times as much as one; positions one by one, several times."""
    assert min(map(min, figures["layer"])) > 0
    if figures["tokens"][-1] < 1024:
        return  # short sentences and a busy machine: no time is claimed of them
    for one, eight, *_ in figures["layer"]:
        assert eight < 1.5 * one
    at_once = figures["layer"][-1]
    assert figures["one_by_one"][0] > 3 * at_once[0]
    assert figures["one_by_one"][1] > 3 * at_once[1]
    assert at_once[2] > 1.5 * at_once[0]  # 64 heads have 64 maps to put through softmax


if __name__ == "__main__":
    run_and_store("multi_head_cost", measure)
