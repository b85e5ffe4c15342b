"""What blocks save: peak memory and processor time of attention, plain and blockwise, both rooms.

One head in float32, forward; causal in the last three ways. Memory is what is allocated beside q,
k, v and a mask, the output included: in NumPy as `tracemalloc` counts it, in torch as its profiler
does. The time is that of the processor, which other programs do not prolong.
"""

from __future__ import annotations

import os
import time
import tracemalloc
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.experiments.stored_results import run_and_store

__all__ = ["check", "measure", "milliseconds", "numpy_peak", "torch_peak"]

D_K, BLOCKS = 64, (128, 512)
Call = Callable[[], object]


def measure(small: bool = False) -> dict[str, Any]:
    """One row for each length and way.

    Returns:
        rows: n, way (of `_ways`), bytes at the peak, and milliseconds, the best of several rounds.
        d_k: of all rows.
        threads: as the environment sets them for NumPy; torch has one.
    """
    import torch

    lengths, rounds = ((256, 1024), 2) if small else ((2048, 4096), 5)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        rows = []
        for n in lengths:
            ways = _ways(n)
            times = milliseconds(ways, rounds)
            for way, call in ways.items():
                peak = numpy_peak if way.startswith("NumPy") else torch_peak
                rows.append({"n": n, "way": way, "bytes": peak(call), "ms": times[way]})
    finally:
        torch.set_num_threads(threads)
    setting = os.environ.get("OMP_NUM_THREADS", "all")
    return {"rows": rows, "d_k": D_K, "threads": setting}


def _ways(n: int) -> dict[str, Call]:
    import torch
    from torch.nn import functional as F

    q, k, v = np.random.default_rng(0).normal(size=(3, 1, 1, n, D_K)).astype(np.float32)
    a, b, c = (torch.from_numpy(x) for x in (q, k, v))
    triangle = torch.ones(n, n, dtype=torch.bool).tril()
    as_float = torch.zeros(n, n).masked_fill(~triangle, float("-inf"))
    fused: Callable[..., object] = partial(F.scaled_dot_product_attention, a, b, c)

    def textbook() -> torch.Tensor:
        return torch.softmax(a @ b.mT / D_K**0.5, dim=-1) @ c

    return {
        "NumPy, plain": partial(qn.scaled_dot_product_attention, q, k, v),
        **{
            f"NumPy, tiles of {size}": partial(qn.blockwise_attention, q, k, v, block_size=size)
            for size in BLOCKS
        },
        "torch, textbook": textbook,
        "torch, fused": fused,
        "torch, fused, bool mask": partial(fused, attn_mask=triangle),
        "torch, fused, float mask": partial(fused, attn_mask=as_float),
        "torch, fused, is_causal": partial(fused, is_causal=True),
    }


def numpy_peak(call: Callable[..., object], *inputs: object) -> int:
    """The most bytes that were allocated at one time in call(*inputs): the least of five runs.

    Python counts those of all threads, and Jupyter's own can only add to them.
    """
    return min(_traced_peak(partial(call, *inputs)) for _ in range(5))


def _traced_peak(call: Call) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def torch_peak(call: Callable[..., object], *inputs: object, **options: object) -> int:
    """The most bytes of the processor's memory that torch held at one time in this call."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it announces its start and its end
    with torch.no_grad(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as trace:
        call(*inputs, **options)
    held = peak = 0
    events = trace.profiler.kineto_results.events()
    for event in sorted(events, key=lambda event: event.start_ns()):
        if event.name() == "[memory]":
            held += event.nbytes()  # negative where memory is given back
            peak = max(peak, held)
    return int(peak)


def milliseconds(ways: Mapping[str, Call], rounds: int) -> dict[str, float]:
    """The shortest processor time of each call, in rounds that take turns."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds + 1):  # the first warms up, and counts if it is the shortest
        for way, call in ways.items():
            start = time.process_time()
            call()
            best[way] = min(best[way], 1e3 * (time.process_time() - start))
    return {way: round(best[way], 3) for way in ways}


def check(figures: dict[str, Any]) -> None:
    """Plain memory grows with n², that of blocks and of the fused kernel more slowly."""
    rows = {(row["way"], row["n"]): row for row in figures["rows"]}
    first, last = figures["rows"][0]["n"], figures["rows"][-1]["n"]
    growth = last / first
    for room, blocks in (("NumPy", "NumPy, tiles of 128"), ("torch", "torch, fused")):
        plain = f"{room}, {'plain' if room == 'NumPy' else 'textbook'}"
        assert rows[plain, last]["bytes"] >= last**2 * 4
        assert rows[plain, last]["bytes"] > 0.7 * growth**2 * rows[plain, first]["bytes"]
        assert rows[blocks, last]["bytes"] < 0.5 * growth**2 * rows[blocks, first]["bytes"]
        assert rows[blocks, last]["bytes"] < rows[plain, last]["bytes"] / 4
    if last >= 4096:
        textbook, fused = (rows[f"torch, {way}", last] for way in ("textbook", "fused"))
        assert fused["bytes"] < textbook["bytes"] / 20
        assert fused["ms"] < textbook["ms"]
        kinds = ("bool mask", "float mask", "is_causal")
        of_bool, of_float, causal = (rows[f"torch, fused, {kind}", last] for kind in kinds)
        assert causal["bytes"] < of_bool["bytes"] / 10
        assert causal["ms"] < of_float["ms"] < of_bool["ms"]


if __name__ == "__main__":
    run_and_store("efficient_blocks", measure)
