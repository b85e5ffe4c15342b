"""Scaled dot-product attention, as in the Transformer, and its backward."""

import math
from typing import Any

import numpy as np

from qkv.numpy.array_types import Bools, Floats
from qkv.numpy.attention.memory_efficient import has_many_scores, memory_efficient_attention
from qkv.numpy.attention.softmax import softmax_backward_formula, softmax_in_place
from qkv.numpy.checks import check_attention
from qkv.numpy.half_precision import is_half, run_in_float32
from qkv.numpy.masks import causal_mask

__all__ = ["scaled_dot_product_attention", "scaled_dot_product_attention_backward"]


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
    """Scaled dot-product attention: softmax(q kᵀ / √d_k + bias) v.

    All (T, S) weights are in memory at once, 0.5 GiB for 8 heads of 4,096 positions in float32; but
    where they are many and nobody needs them, some queries are done at a time, which is faster.
    `blockwise_attention` takes the keys a block at a time too.

    Args:
        q: (B, H, T, d_k) queries; any number of leading axes, also none.
        k: (B, H, S, d_k) keys.
        v: (B, H, S, d_v) values.
        mask: bool, broadcast to (B, H, T, S); True = may attend.
        bias: float, broadcast to (B, H, T, S); added to the scores.
        scale: multiplies q kᵀ; None means 1/√d_k.
        causal: hide the keys after each query, as `causal_mask(T, S)` does.
        need_weights: False returns None in the place of the weights.
    Returns:
        (B, H, T, d_v) mixed values, and the (B, H, T, S) weights or None.
        A query that may attend to no key gets zeros. Half precision is computed in float32.
    Raises:
        ValueError: shapes or dtypes do not fit together.
    Source: Vaswani et al. 2017, eq. 1.
    """
    check_attention("scaled_dot_product_attention", q, k, v, mask, bias, scale=scale, causal=causal)
    options: dict[str, Any] = {"mask": mask, "bias": bias, "scale": scale, "causal": causal}
    return attend(q, k, v, **options, need_weights=need_weights)


def attend(
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
    """Choose precision and algorithm for `scaled_dot_product_attention`; layers call this."""
    if is_half(q):
        options = {"mask": mask, "bias": bias, "scale": scale, "causal": causal}
        return run_in_float32(attend, q, k, v, **options, need_weights=need_weights)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    if not need_weights and has_many_scores(q, k):
        return memory_efficient_attention(q, k, v, mask, bias, scale, causal), None
    if causal and q.shape[-2] > 1:  # a single query is the last token, which sees all
        visible = causal_mask(q.shape[-2], k.shape[-2])[0, 0]  # (T, S)
        mask = visible if mask is None else mask & visible  # (..., T, S)
    out, weights = attention_formula(q, k, v, mask, bias, scale)
    return out, weights if need_weights else None


def attention_formula(
    q: Floats, k: Floats, v: Floats, mask: Bools | None, bias: Floats | None, scale: float
) -> tuple[Floats, Floats]:
    """Scaled dot-product attention: softmax(scale · q kᵀ + bias) v, and the weights."""
    scores = (q * scale) @ k.mT  # (B, H, T, S)
    if bias is not None:
        scores += bias
    if mask is not None:
        np.copyto(scores, -np.inf, where=~mask)
    weights = softmax_in_place(scores)  # (B, H, T, S)
    return weights @ v, weights  # (B, H, T, d_v)


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
    """Backward of scaled dot-product attention, back along the four steps of the forward.

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
        weights=(weights, "*batch T S"),
    )
    options: dict[str, Any] = {"mask": mask, "bias": bias, "scale": scale, "causal": causal}
    return attend_backward(dout, q, k, v, **options, weights=weights)


def attend_backward(
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
    """Choose the precision for `scaled_dot_product_attention_backward`; layers call this."""
    if is_half(q):
        options = {"mask": mask, "bias": bias, "scale": scale, "causal": causal, "weights": weights}
        return run_in_float32(attend_backward, dout, q, k, v, **options)
    if weights is None:
        _, weights = attend(q, k, v, mask=mask, bias=bias, scale=scale, causal=causal)
        assert weights is not None  # for the type checker: the forward has kept them
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    dq, dk, dv, dscores = attention_backward_formula(dout, q, k, v, weights, scale)
    return dq, dk, dv, None if bias is None else unbroadcast(dscores, bias.shape)


def attention_backward_formula(
    dout: Floats, q: Floats, k: Floats, v: Floats, weights: Floats, scale: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Back along the four steps of `attention_formula`: to q, k, v and the scores."""
    dv = weights.mT @ dout  # (B, H, S, d_v)
    dscores = softmax_backward_formula(dout @ v.mT, weights)  # (B, H, T, S)
    dq = (dscores @ k) * scale  # (B, H, T, d_k)
    dk = (dscores.mT @ q) * scale  # (B, H, S, d_k)
    return dq, dk, dv, dscores


def unbroadcast(grad: Floats, shape: tuple[int, ...]) -> Floats:
    """Sum a gradient over the axes along which the forward has broadcast."""
    new_axes = tuple(range(grad.ndim - len(shape)))
    stretched_axes = tuple(len(new_axes) + axis for axis, n in enumerate(shape) if n == 1)
    summed: Floats = grad.sum(new_axes + stretched_axes, keepdims=True)
    return summed.reshape(shape)
