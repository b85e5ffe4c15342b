"""The backward kernels: `blockwise_attention_backward` of the NumPy room under its names.

NumPy's double loop adds to dq, dk and dv at once. Here programs run at the same time and must not
add to one place, so the loop is run twice: `attend_backward_queries` holds a block of queries and
adds up its dq over the keys, `attend_backward_keys` holds a block of keys and adds up its dk and dv
over the queries. Both compute the weights anew, 2^(score − peak), which are still to be divided
by the query's total. NumPy divides dout by it, which could vanish in float16; here the products
with dout are divided, in float32.
"""

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

__all__ = ["attend_backward_keys", "attend_backward_queries", "mean_gradients"]


@triton.jit
def mean_gradients(
    dout: tl.tensor,
    out: tl.tensor,
    totals: tl.tensor,
    means: tl.tensor,
    T: tl.tensor,
    D_V: tl.constexpr,
    WIDTH_V: tl.constexpr,
    R: tl.constexpr,
) -> None:
    """Softmax's Σ dout · w of each query, which is Σ dout · out; divided by its total."""
    n, start = place(T, R)
    rows = start + tl.arange(0, R)
    upstream = load_rows(dout + n * T * D_V, rows, T, D_V, WIDTH_V).to(tl.float32)  # (R, d_v)
    mixed = load_rows(out + n * T * D_V, rows, T, D_V, WIDTH_V).to(tl.float32)  # (R, d_v)
    total = tl.load(totals + n * T + rows, rows < T, other=1.0)
    tl.store(means + n * T + rows, tl.sum(upstream * mixed, 1) / total, rows < T)


@triton.jit
def attend_backward_queries(
    dout: tl.tensor,
    q: tl.tensor,
    k: tl.tensor,
    v: tl.tensor,
    mask: tl.tensor,
    peaks: tl.tensor,
    totals: tl.tensor,
    means: tl.tensor,
    dq: tl.tensor,
    T: tl.tensor,
    S: tl.tensor,
    scale: tl.tensor,
    factor: tl.tensor,
    D_K: tl.constexpr,
    D_V: tl.constexpr,
    WIDTH_K: tl.constexpr,
    WIDTH_V: tl.constexpr,
    CAUSAL: tl.constexpr,
    R: tl.constexpr,
    C: tl.constexpr,
) -> None:
    """The gradient of a block of queries, added up over the blocks of keys."""
    n, start = place(T, R)
    k, v = k + n * S * D_K, v + n * S * D_V
    if mask is not None:
        mask = mask + n * S
    rows = start + tl.arange(0, R)
    queries = load_rows(q + n * T * D_K, rows, T, D_K, WIDTH_K)  # (R, d_k)
    upstream = load_rows(dout + n * T * D_V, rows, T, D_V, WIDTH_V)  # (R, d_v)
    peak = tl.load(peaks + n * T + rows, rows < T, other=float("inf"))
    share = 1 / tl.load(totals + n * T + rows, rows < T, other=1.0)  # a weight of 2^0
    mean = tl.load(means + n * T + rows, rows < T, other=0.0)
    sums = tl.zeros((R, WIDTH_K), tl.float32)  # (R, d_k)

    # As in the forward: the keys that all of these queries see, then the rest.
    stop = S
    whole = S // C * C
    if CAUSAL:
        stop = tl.minimum(S, S - T + start + R)
        whole = (S - T + start + 1) // C * C
    if mask is not None:
        whole = 0
    for first in range(0, whole, C):
        sums = add_keys(
            sums, queries, upstream, peak, share, mean, k, v, mask, rows, first, T, S, factor,
            D_K, D_V, WIDTH_K, WIDTH_V, CAUSAL, C, HIDE=False,
        )  # fmt: skip
    for first in range(whole, stop, C):
        sums = add_keys(
            sums, queries, upstream, peak, share, mean, k, v, mask, rows, first, T, S, factor,
            D_K, D_V, WIDTH_K, WIDTH_V, CAUSAL, C, HIDE=True,
        )  # fmt: skip
    store_rows(dq + n * T * D_K, sums * scale, rows, T, D_K, WIDTH_K)


@triton.jit
def add_keys(
    sums: tl.tensor,
    queries: tl.tensor,
    upstream: tl.tensor,
    peak: tl.tensor,
    share: tl.tensor,
    mean: tl.tensor,
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
) -> tl.tensor:
    """What the block of keys at `first` adds to the gradient of the queries."""
    cols = first + tl.arange(0, C)
    keys = load_rows(k, cols, S, D_K, WIDTH_K)  # (C, d_k)
    values = load_rows(v, cols, S, D_V, WIDTH_V)  # (C, d_v)
    scores = scores_of(queries, keys) * factor  # (R, C)
    if HIDE:
        scores = hide(scores, mask, rows[:, None], cols[None, :], T, S, CAUSAL)
    weights = tl.exp2(scores - peak[:, None])  # (R, C), undivided
    dscores = weights * (scores_of(upstream, values) * share[:, None] - mean[:, None])
    return tl.dot(dscores.to(keys.dtype), keys, sums, input_precision="ieee")


@triton.jit
def attend_backward_keys(
    dout: tl.tensor,
    q: tl.tensor,
    k: tl.tensor,
    v: tl.tensor,
    mask: tl.tensor,
    peaks: tl.tensor,
    totals: tl.tensor,
    means: tl.tensor,
    dk: tl.tensor,
    dv: tl.tensor,
    T: tl.tensor,
    S: tl.tensor,
    scale: tl.tensor,
    factor: tl.tensor,
    D_K: tl.constexpr,
    D_V: tl.constexpr,
    WIDTH_K: tl.constexpr,
    WIDTH_V: tl.constexpr,
    CAUSAL: tl.constexpr,
    R: tl.constexpr,
    C: tl.constexpr,
) -> None:
    """The gradients of a block of keys and values, added up over the blocks of queries."""
    n, start = place(S, C)
    q, dout = q + n * T * D_K, dout + n * T * D_V
    peaks, totals, means = peaks + n * T, totals + n * T, means + n * T
    cols = start + tl.arange(0, C)
    keys = load_rows(k + n * S * D_K, cols, S, D_K, WIDTH_K)  # (C, d_k)
    values = load_rows(v + n * S * D_V, cols, S, D_V, WIDTH_V)  # (C, d_v)
    dkeys = tl.zeros((C, WIDTH_K), tl.float32)  # (C, d_k)
    dvalues = tl.zeros((C, WIDTH_V), tl.float32)  # (C, d_v)

    # No query before `begin` sees one of these keys; from `whole` on, each sees all of them.
    begin = 0
    whole = 0
    if CAUSAL:
        begin = tl.maximum(start + T - S, 0) // R * R
        whole = tl.minimum(tl.cdiv(tl.maximum(start + C - 1 + T - S, 0), R) * R, T)
    for first in range(begin, whole, R):
        dkeys, dvalues = add_queries(
            dkeys, dvalues, keys, values, dout, q, peaks, totals, means, cols, first, T, S, factor,
            D_K, D_V, WIDTH_K, WIDTH_V, CAUSAL, R, HIDE=True,
        )  # fmt: skip
    for first in range(whole, T, R):
        dkeys, dvalues = add_queries(
            dkeys, dvalues, keys, values, dout, q, peaks, totals, means, cols, first, T, S, factor,
            D_K, D_V, WIDTH_K, WIDTH_V, CAUSAL, R, HIDE=False,
        )  # fmt: skip
    if mask is not None:  # a padded key stands alone in its row: one zero at the end is enough
        visible = tl.load(mask + n * S + cols, cols < S, other=0).to(tl.int1)[:, None]
        dkeys, dvalues = tl.where(visible, dkeys, 0.0), tl.where(visible, dvalues, 0.0)
    store_rows(dk + n * S * D_K, dkeys * scale, cols, S, D_K, WIDTH_K)
    store_rows(dv + n * S * D_V, dvalues, cols, S, D_V, WIDTH_V)


@triton.jit
def add_queries(
    dkeys: tl.tensor,
    dvalues: tl.tensor,
    keys: tl.tensor,
    values: tl.tensor,
    dout: tl.tensor,
    q: tl.tensor,
    peaks: tl.tensor,
    totals: tl.tensor,
    means: tl.tensor,
    cols: tl.tensor,
    first: tl.tensor,
    T: tl.tensor,
    S: tl.tensor,
    factor: tl.tensor,
    D_K: tl.constexpr,
    D_V: tl.constexpr,
    WIDTH_K: tl.constexpr,
    WIDTH_V: tl.constexpr,
    CAUSAL: tl.constexpr,
    R: tl.constexpr,
    HIDE: tl.constexpr,
) -> tuple[tl.tensor, tl.tensor]:
    """What the block of queries at `first` adds to the gradients of the keys and values.

    Its scores are turned, (C, R): so nothing has to be transposed in `weights.mT @ upstream`.
    """
    rows = first + tl.arange(0, R)
    queries = load_rows(q, rows, T, D_K, WIDTH_K)  # (R, d_k)
    upstream = load_rows(dout, rows, T, D_V, WIDTH_V)  # (R, d_v)
    peak = tl.load(peaks + rows, rows < T, other=float("inf"))  # weights of 0 past T
    share = 1 / tl.load(totals + rows, rows < T, other=1.0)
    mean = tl.load(means + rows, rows < T, other=0.0)
    scores = scores_of(keys, queries) * factor  # (C, R)
    if HIDE:
        scores = hide(scores, None, rows[None, :], cols[:, None], T, S, CAUSAL)
    weights = tl.exp2(scores - peak[None, :])  # (C, R), undivided
    divided = (weights * share[None, :]).to(upstream.dtype)
    dvalues = tl.dot(divided, upstream, dvalues, input_precision="ieee")
    dscores = weights * (scores_of(values, upstream) * share[None, :] - mean[None, :])  # (C, R)
    dkeys = tl.dot(dscores.to(queries.dtype), queries, dkeys, input_precision="ieee")
    return dkeys, dvalues
