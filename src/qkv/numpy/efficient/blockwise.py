"""Exact attention without its (T, S) weights: blocks of scores, and a softmax that runs along."""

import math

import numpy as np

from qkv.numpy.attention.softmax import Floats
from qkv.numpy.efficient.blocks import score_blocks
from qkv.numpy.masks import Bools
from qkv.shapes import check_attention, check_count, check_gradient, check_kept_blocks

__all__ = ["blockwise_attention", "blockwise_attention_backward"]


def blockwise_attention(
    q: Floats,
    k: Floats,
    v: Floats,
    *,
    mask: Bools | None = None,
    bias: Floats | None = None,
    causal: bool = False,
    scale: float | None = None,
    block: int = 128,
) -> tuple[Floats, Floats, Floats]:
    """Mix values as `scaled_dot_product_attention` does, never holding more than a block of scores.

    Along the keys it keeps each query's peak m, the sum Σ exp(s − m) and the mix Σ exp(s − m) v; a
    higher peak m′ shrinks both sums by exp(m − m′).

    Args:
        q, k, v, mask, bias, causal, scale: as `scaled_dot_product_attention` takes them.
        block: queries, and keys, at a time.
    Returns:
        (B, H, T, d_v) mixed values; peak (B, H, T), the highest score of each query, and total
        (B, H, T), its Σ exp(score − peak), at least float32: all that the backward needs. Their
        log-sum-exp is peak + log(total), in which a large peak rounds the logarithm away. A query
        that may attend to no key gets zeros, the lowest finite peak and a total of 0.
    Raises:
        ValueError: shapes or dtypes do not fit together, or block is no positive whole number.
    Source: Milakov and Gimelshein 2018 (online softmax); Rabe and Staats 2021; Dao et al. 2022
        (FlashAttention), algorithm 1.
    """
    check_attention("blockwise_attention", q, k, v, mask, bias, scale=scale, causal=causal)
    check_count("blockwise_attention", block=block)
    wide = np.promote_types(q.dtype, np.float32)  # sums outgrow half precision
    out = np.empty((*q.shape[:-1], v.shape[-1]), q.dtype)  # (B, H, T, d_v)
    peaks, totals = np.empty((2, *q.shape[:-1]), wide)  # (B, H, T), (B, H, T)
    for start in range(0, q.shape[-2], block):
        rows = slice(start, min(start + block, q.shape[-2]))
        peak = np.full((*peaks[..., rows].shape, 1), np.finfo(wide).min)  # (B, H, R, 1)
        total = np.zeros_like(peak)  # (B, H, R, 1)
        mixed = np.zeros(out[..., rows, :].shape, wide)  # (B, H, R, d_v)
        for cols, scores in score_blocks(q, k, mask, bias, causal, scale, block, rows):
            higher = np.maximum(peak, scores.max(-1, keepdims=True))
            weights = np.exp(scores - higher, out=scores)  # (B, H, R, C)
            shrink = np.exp(peak - higher)
            total = total * shrink + weights.sum(-1, keepdims=True)
            mixed = mixed * shrink + weights @ v[..., cols, :]
            peak = higher
        out[..., rows, :] = mixed / np.maximum(total, 1)  # the peak alone gives 1, no key gives 0
        peaks[..., rows], totals[..., rows] = peak[..., 0], total[..., 0]
    return out, peaks, totals


def blockwise_attention_backward(
    dout: Floats,
    q: Floats,
    k: Floats,
    v: Floats,
    *,
    mask: Bools | None = None,
    bias: Floats | None = None,
    causal: bool = False,
    scale: float | None = None,
    block: int = 128,
    out: Floats | None = None,
    peak: Floats | None = None,
    total: Floats | None = None,
) -> tuple[Floats, Floats, Floats, Floats | None]:
    """Push a gradient through attention; blocks of weights are made again: exp(s − peak) / total.

    Args:
        dout: (B, H, T, d_v) gradient with respect to the output.
        q, k, v, mask, bias, causal, scale, block: as the forward took them.
        out, peak, total: as the forward returned them; without all three, it is run again.
    Returns:
        Gradients in the shapes of q, k, v and bias; the last is None without a bias.
    Raises:
        ValueError: shapes or dtypes do not fit together.
    Source: Dao et al. 2022 (FlashAttention), appendix B.2.
    """
    call = "blockwise_attention_backward"
    check_attention(call, q, k, v, mask, bias, scale=scale, causal=causal)
    check_count(call, block=block)
    check_gradient(call, dout, q, k, v)
    check_kept_blocks(call, q, v, out, peak, total)
    if out is None or peak is None or total is None:
        out, peak, total = blockwise_attention(
            q, k, v, mask=mask, bias=bias, causal=causal, scale=scale, block=block
        )
    wide = np.promote_types(q.dtype, np.float32)
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    dq, dk, dv = (np.zeros(x.shape, wide) for x in (q, k, v))
    dbias = None if bias is None else np.zeros((1,) * (q.ndim - bias.ndim) + bias.shape, wide)
    for start in range(0, q.shape[-2], block):
        rows = slice(start, min(start + block, q.shape[-2]))
        # Every weight is divided by its query's total: so is what meets it, once for all keys.
        above = dout[..., rows, :] / np.maximum(total[..., rows, None], 1)  # (B, H, R, d_v)
        mean = (above * out[..., rows, :]).sum(-1, keepdims=True)  # softmax's Σ dout · w
        for cols, scores in score_blocks(q, k, mask, bias, causal, scale, block, rows):
            weights = np.exp(scores - peak[..., rows, None], out=scores)  # (B, H, R, C), undivided
            dv[..., cols, :] += weights.mT @ above
            dscores = weights * (above @ v[..., cols, :].astype(wide).mT - mean)
            dq[..., rows, :] += dscores @ k[..., cols, :] * factor
            dk[..., cols, :] += dscores.mT @ q[..., rows, :] * factor
            if dbias is not None:
                _add_block(dbias, dscores, rows, cols)
    dq, dk, dv = (x.astype(q.dtype, copy=False) for x in (dq, dk, dv))
    if bias is None or dbias is None:
        return dq, dk, dv, None
    return dq, dk, dv, dbias.reshape(bias.shape).astype(q.dtype, copy=False)


def _add_block(dbias: Floats, dscores: Floats, rows: slice, cols: slice) -> None:
    """Add a block's gradient to a bias, summed over the axes along which it was broadcast."""
    stretched = tuple(axis for axis, n in enumerate(dbias.shape) if n == 1)
    rows = slice(1) if dbias.shape[-2] == 1 else rows
    cols = slice(1) if dbias.shape[-1] == 1 else cols
    dbias[..., rows, cols] += dscores.sum(stretched, keepdims=True)
