"""Attention by scaled dot products, as in the Transformer."""

import math

import numpy as np

from qkv.numpy.attention.half_precision import HALF, in_float32
from qkv.numpy.attention.softmax import Floats, softmax_backward, softmax_in_place
from qkv.numpy.masks import Bools, causal_mask, combine_masks
from qkv.shapes import check_attention, check_gradient

__all__ = ["scaled_dot_product_attention", "scaled_dot_product_attention_backward"]

BLOCK = 256  # queries at a time, so that a block of scores stays in the cache


def scaled_dot_product_attention(
    q: Floats,
    k: Floats,
    v: Floats,
    *,
    mask: Bools | None = None,
    bias: Floats | None = None,
    scale: float | None = None,
    causal: bool = False,
    need_weights: bool = True,
) -> tuple[Floats, Floats | None]:
    """Mix values by query–key similarity: softmax(q kᵀ / √d_k + bias) v.

    Args:
        q: (B, H, T, d_k) queries; any number of leading axes, also none.
        k: (B, H, S, d_k) keys.
        v: (B, H, S, d_v) values.
        mask: bool, broadcast to (B, H, T, S); True = may attend.
        bias: float, broadcast to (B, H, T, S); added to the scores.
        scale: multiplies q kᵀ; None means 1/√d_k.
        causal: hide the keys after each query, as `causal_mask(T, S)` does.
        need_weights: False keeps no weights, which saves time and memory.
    Returns:
        (B, H, T, d_v) mixed values, and the (B, H, T, S) weights or None.
        A query that may attend to no key gets zeros. Half precision is computed in float32.
    Raises:
        ValueError: shapes or dtypes do not fit together.
    Source: Vaswani et al. 2017, eq. 1.
    """
    check_attention("scaled_dot_product_attention", q, k, v, mask, bias, scale=scale, causal=causal)
    if causal:
        mask = combine_masks(mask, causal_mask(q.shape[-2], k.shape[-2])[0, 0])  # (..., T, S)
    if q.dtype == HALF:
        options = {"mask": mask, "bias": bias, "scale": scale, "need_weights": need_weights}
        return in_float32(scaled_dot_product_attention, q, k, v, **options)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    if not need_weights and q.shape[-2] * k.shape[-2] >= BLOCK * BLOCK:
        return _in_blocks(q, k, v, mask, bias, scale), None

    scores = (q * scale) @ k.mT  # (B, H, T, S)
    if bias is not None:
        scores += bias
    if mask is not None:
        np.copyto(scores, -np.inf, where=~mask)
    weights = softmax_in_place(scores)  # (B, H, T, S)
    return weights @ v, weights if need_weights else None  # (B, H, T, d_v)


def _in_blocks(
    q: Floats, k: Floats, v: Floats, mask: Bools | None, bias: Floats | None, scale: float
) -> Floats:
    """Attend head by head, a block of queries at a time: none needs another's scores."""
    shape = (*q.shape[:-1], k.shape[-2])
    masks = None if mask is None else np.broadcast_to(mask, shape)  # (B, H, T, S)
    biases = None if bias is None else np.broadcast_to(bias, shape)  # (B, H, T, S)
    out = np.empty((*q.shape[:-1], v.shape[-1]), q.dtype)  # (B, H, T, d_v)
    for head in np.ndindex(q.shape[:-2]):
        for start in range(0, q.shape[-2], BLOCK):
            rows = (*head, slice(start, start + BLOCK))
            out[rows], _ = scaled_dot_product_attention(
                q[rows],
                k[head],
                v[head],
                mask=None if masks is None else masks[rows],
                bias=None if biases is None else biases[rows],
                scale=scale,
            )
    return out


def scaled_dot_product_attention_backward(
    dout: Floats,
    q: Floats,
    k: Floats,
    v: Floats,
    *,
    mask: Bools | None = None,
    bias: Floats | None = None,
    scale: float | None = None,
    causal: bool = False,
    weights: Floats | None = None,
) -> tuple[Floats, Floats, Floats, Floats | None]:
    """Push a gradient through attention, back along the four steps of the forward.

    Args:
        dout: (B, H, T, d_v) gradient with respect to the output.
        q, k, v, mask, bias, scale, causal: as the forward took them.
        weights: (B, H, T, S) as the forward returned them; None computes them again.
    Returns:
        Gradients in the shapes of q, k, v and bias; the last is None without a bias. Half precision
        is computed in float32.
    Raises:
        ValueError: shapes or dtypes do not fit together.
    """
    call = "scaled_dot_product_attention_backward"
    check_attention(call, q, k, v, mask, bias, scale=scale, causal=causal)
    check_gradient(call, dout, q, k, v, weights)
    if q.dtype == HALF:
        options = {"mask": mask, "bias": bias, "scale": scale, "causal": causal, "weights": weights}
        return in_float32(scaled_dot_product_attention_backward, dout, q, k, v, **options)
    if weights is None:
        _, weights = scaled_dot_product_attention(
            q, k, v, mask=mask, bias=bias, scale=scale, causal=causal
        )
        assert weights is not None  # for the type checker: the forward has kept them
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    dv = weights.mT @ dout  # (B, H, S, d_v)
    dscores = softmax_backward(dout @ v.mT, weights)  # (B, H, T, S)
    dq = (dscores @ k) * scale  # (B, H, T, d_k)
    dk = (dscores.mT @ q) * scale  # (B, H, S, d_k)
    return dq, dk, dv, None if bias is None else sum_to(dscores, bias.shape)


def sum_to(grad: Floats, shape: tuple[int, ...]) -> Floats:
    """Add a gradient up over the axes along which the forward has broadcast."""
    added = tuple(range(grad.ndim - len(shape)))
    stretched = tuple(len(added) + axis for axis, n in enumerate(shape) if n == 1)
    total: Floats = grad.sum(added + stretched, keepdims=True)
    return total.reshape(shape)
