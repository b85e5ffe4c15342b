"""The forward kernel: `blockwise_attention` of the NumPy room, step by step, under its names."""

from __future__ import annotations

import triton
import triton.language as tl

from qkv.torch.efficient.triton_attention.blocks import (
    hide,
    load_rows,
    place,
    scores_of,
    store_rows,
)

__all__ = ["attend"]

# The lowest float32: a peak that is finite, so that −∞ − peak is −∞ and no NaN.
LOWEST = tl.constexpr(-3.4028234663852886e38)


@triton.jit
def attend(
    q: tl.tensor,
    k: tl.tensor,
    v: tl.tensor,
    mask: tl.tensor,
    out: tl.tensor,
    peaks: tl.tensor,
    totals: tl.tensor,
    T: tl.tensor,
    S: tl.tensor,
    factor: tl.tensor,
    D_K: tl.constexpr,
    D_V: tl.constexpr,
    WIDTH_K: tl.constexpr,
    WIDTH_V: tl.constexpr,
    CAUSAL: tl.constexpr,
    R: tl.constexpr,
    C: tl.constexpr,
) -> None:
    """A block of queries attends to one block of keys after another.

    Writes the mixed values and, for the backward, each query's peak and total: +∞ and 1 where it
    may attend to no key, so that each of its weights, 2^(score − ∞), is 0.
    """
    n, start = place(T, R)
    q, k, v = q + n * T * D_K, k + n * S * D_K, v + n * S * D_V
    if mask is not None:
        mask = mask + n * S
    rows = start + tl.arange(0, R)
    queries = load_rows(q, rows, T, D_K, WIDTH_K)  # (R, d_k)
    peak = tl.full((R,), LOWEST, tl.float32)
    total = tl.zeros((R,), tl.float32)
    mixed = tl.zeros((R, WIDTH_V), tl.float32)  # (R, d_v)

    # No query of these sees a key from `stop` on; each sees all keys before `whole`.
    stop = S
    whole = S // C * C
    if CAUSAL:
        stop = tl.minimum(S, S - T + start + R)
        whole = (S - T + start + 1) // C * C
    if mask is not None:
        whole = 0
    for first in range(0, whole, C):
        peak, total, mixed = take_in(
            peak, total, mixed, queries, k, v, mask, rows, first, T, S, factor,
            D_K, D_V, WIDTH_K, WIDTH_V, CAUSAL, C, HIDE=False,
        )  # fmt: skip
    for first in range(whole, stop, C):
        peak, total, mixed = take_in(
            peak, total, mixed, queries, k, v, mask, rows, first, T, S, factor,
            D_K, D_V, WIDTH_K, WIDTH_V, CAUSAL, C, HIDE=True,
        )  # fmt: skip

    empty = total == 0
    total = tl.where(empty, 1.0, total)
    store_rows(out + n * T * D_V, mixed / total[:, None], rows, T, D_V, WIDTH_V)
    tl.store(peaks + n * T + rows, tl.where(empty, float("inf"), peak), rows < T)
    tl.store(totals + n * T + rows, total, rows < T)


@triton.jit
def take_in(
    peak: tl.tensor,
    total: tl.tensor,
    mixed: tl.tensor,
    queries: tl.tensor,
    k: tl.tensor,
    v: tl.tensor,
    mask: tl.tensor,
    rows: tl.tensor,
    first: tl.tensor,
    T: tl.tensor,
    S: tl.tensor,
    factor: tl.tensor,
    D_K: tl.constexpr,
    D_V: tl.constexpr,
    WIDTH_K: tl.constexpr,
    WIDTH_V: tl.constexpr,
    CAUSAL: tl.constexpr,
    C: tl.constexpr,
    HIDE: tl.constexpr,
) -> tuple[tl.tensor, tl.tensor, tl.tensor]:
    """One step of the online softmax: peak, total and mix after the block of keys at `first`."""
    cols = first + tl.arange(0, C)
    keys = load_rows(k, cols, S, D_K, WIDTH_K)  # (C, d_k)
    scores = scores_of(queries, keys) * factor  # (R, C)
    if HIDE:
        scores = hide(scores, mask, rows[:, None], cols[None, :], T, S, CAUSAL)
    higher = tl.maximum(peak, tl.max(scores, 1))
    weights = tl.exp2(scores - higher[:, None])  # (R, C)
    shrink = tl.exp2(peak - higher)
    total = total * shrink + tl.sum(weights, 1)
    values = load_rows(v, cols, S, D_V, WIDTH_V)  # (C, d_v)
    mixed = mixed * shrink[:, None]
    mixed = tl.dot(weights.to(values.dtype), values, mixed, input_precision="ieee")
    return higher, total, mixed
