"""Blockwise attention with online softmax, as in FlashAttention: exact, without (T, S) weights."""

import math

import numpy as np

from qkv.numpy.array_types import Bools, Floats
from qkv.numpy.checks import check_attention, check_shapes
from qkv.numpy.efficient.score_blocks import score_blocks
from qkv.numpy.half_precision import upcast
from qkv.shapes import check_count

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
    block_size: int = 128,
) -> tuple[Floats, Floats, Floats]:
    """Blockwise attention: `scaled_dot_product_attention` without its (T, S) weights in memory.

    Online softmax along the keys keeps each query's peak m, the sum Σ exp(s − m) and the mix
    Σ exp(s − m) v; a higher peak m′ shrinks both sums by exp(m − m′).

    Args:
        q, k, v, mask, bias, causal, scale: as `scaled_dot_product_attention` takes them.
        block_size: queries, and keys, at a time.
    Returns:
        (B, H, T, d_v) mixed values; peak (B, H, T), the highest score of each query, and total
        (B, H, T), its Σ exp(score − peak), at least float32: all that the backward needs. Their
        log-sum-exp is peak + log(total), in which a large peak rounds the logarithm away. A query
        that may attend to no key gets zeros, the lowest finite peak and a total of 0.
    Raises:
        ValueError: shapes or dtypes do not fit together, or block_size is no positive whole number.
    Source: Milakov and Gimelshein 2018 (online softmax); Rabe and Staats 2021; Dao et al. 2022
        (FlashAttention), algorithm 1.
    """
    check_attention("blockwise_attention", q, k, v, mask, bias, scale=scale, causal=causal)
    check_count("blockwise_attention", block_size=block_size)
    sum_dtype = np.promote_types(q.dtype, np.float32)  # sums outgrow half precision
    out = np.empty((*q.shape[:-1], v.shape[-1]), q.dtype)  # (B, H, T, d_v)
    peaks, totals = np.empty((2, *q.shape[:-1]), sum_dtype)  # (B, H, T), (B, H, T)
    for start in range(0, q.shape[-2], block_size):
        rows = slice(start, min(start + block_size, q.shape[-2]))
        peak = np.full((*peaks[..., rows].shape, 1), np.finfo(sum_dtype).min)  # (B, H, R, 1)
        total = np.zeros_like(peak)  # (B, H, R, 1)
        mixed = np.zeros(out[..., rows, :].shape, sum_dtype)  # (B, H, R, d_v)
        for cols, scores in score_blocks(q, k, mask, bias, causal, scale, block_size, rows):
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
    block_size: int = 128,
    out: Floats | None = None,
    peak: Floats | None = None,
    total: Floats | None = None,
) -> tuple[Floats, Floats, Floats, Floats | None]:
    """Backward of blockwise attention, which recomputes its weights: exp(s − peak) / total.

    As in every FlashAttention, softmax's Σ dout · w is computed from the output. So the gradient of
    a score is off by rounding, about ε |dout| |v|, also where it is 0 because one key has all the
    weight. In dq that error is multiplied by |k|, in dk by |q|: keys of 1e10 in float32 can give a
    dq in the thousands where `scaled_dot_product_attention_backward` gives 0.

    Args:
        dout: (B, H, T, d_v) gradient with respect to the output.
        q, k, v, mask, bias, causal, scale, block_size: as the forward took them.
        out, peak, total: as the forward returned them; without all three, it is run again.
    Returns:
        Gradients in the shapes of q, k, v and bias; the last is None without a bias.
    Raises:
        ValueError: shapes or dtypes do not fit together.
    Source: Dao et al. 2022 (FlashAttention), appendix B.2.
    """
    call = "blockwise_attention_backward"
    check_attention(
        call,
        q,
        k,
        v,
        mask,
        bias,
        scale=scale,
        causal=causal,
        dout=(dout, "*batch T d_v"),
        out=(out, "*batch T d_v"),
    )
    check_count(call, block_size=block_size)
    # In half precision they are wider than q.
    check_shapes(call, peak=(peak, q.shape[:-1]), total=(total, q.shape[:-1]))
    if out is None or peak is None or total is None:
        out, peak, total = blockwise_attention(
            q, k, v, mask=mask, bias=bias, causal=causal, scale=scale, block_size=block_size
        )
    sum_dtype = np.promote_types(q.dtype, np.float32)
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    dq, dk, dv = (np.zeros(x.shape, sum_dtype) for x in (q, k, v))
    dbias = None if bias is None else np.zeros((1,) * (q.ndim - bias.ndim) + bias.shape, sum_dtype)
    for start in range(0, q.shape[-2], block_size):
        rows = slice(start, min(start + block_size, q.shape[-2]))
        # Every weight is divided by its query's total: so is what meets it, once for all keys.
        upstream = dout[..., rows, :] / np.maximum(total[..., rows, None], 1)  # (B, H, R, d_v)
        mean = (upstream * out[..., rows, :]).sum(-1, keepdims=True)  # softmax's Σ dout · w
        for cols, scores in score_blocks(q, k, mask, bias, causal, scale, block_size, rows):
            weights = np.exp(scores - peak[..., rows, None], out=scores)  # (B, H, R, C), undivided
            dv[..., cols, :] += weights.mT @ upstream
            dscores = weights * (upstream @ upcast(v[..., cols, :]).mT - mean)
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
    stretched_axes = tuple(axis for axis, n in enumerate(dbias.shape) if n == 1)
    rows = slice(1) if dbias.shape[-2] == 1 else rows
    cols = slice(1) if dbias.shape[-1] == 1 else cols
    dbias[..., rows, cols] += dscores.sum(stretched_axes, keepdims=True)
