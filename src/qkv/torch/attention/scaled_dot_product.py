"""Scaled dot-product attention, as in the Transformer."""

import math
from typing import Any

import torch
from torch import Tensor

from qkv.torch.attention.memory_efficient import memory_efficient_attention
from qkv.torch.attention.softmax import softmax_formula
from qkv.torch.checks import check_attention
from qkv.torch.half_precision import is_half, run_in_float32
from qkv.torch.masks import causal_mask

__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    scale: float | None = None,
    causal: bool = False,
    need_weights: bool = True,
) -> tuple[Tensor, Tensor | None]:
    """Scaled dot-product attention: softmax(q kᵀ / √d_k + bias) v.

    Args:
        q: (B, H, T, d_k) queries; any number of leading axes, also none.
        k: (B, H, S, d_k) keys.
        v: (B, H, S, d_v) values.
        mask: bool, broadcast to (B, H, T, S); True = may attend.
        bias: float, broadcast to (B, H, T, S); added to the scores.
        scale: multiplies q kᵀ; None means 1/√d_k.
        causal: hide the keys after each query, as `causal_mask(T, S)` does.
        need_weights: False takes the fused kernel, which keeps no weights.
    Returns:
        (B, H, T, d_v) mixed values, and the (B, H, T, S) weights or None.
        A query that may attend to no key gets zeros. Half precision is computed in float32, by the
        fused kernel too, also under autocast.
    Raises:
        ValueError: shapes or dtypes do not fit together.
    Source: Vaswani et al. 2017, eq. 1.
    """
    check_attention("scaled_dot_product_attention", q, k, v, mask, bias, scale=scale, causal=causal)
    options: dict[str, Any] = {"mask": mask, "bias": bias, "scale": scale, "causal": causal}
    return attend(q, k, v, **options, need_weights=need_weights)


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    scale: float | None = None,
    causal: bool = False,
    need_weights: bool = True,
) -> tuple[Tensor, Tensor | None]:
    """Choose precision and algorithm for `scaled_dot_product_attention`; layers call this."""
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    if not need_weights:
        return memory_efficient_attention(q, k, v, mask, bias, scale, causal), None
    if causal and q.shape[-2] > 1:  # a single query is the last token, which sees all
        visible = causal_mask(q.shape[-2], k.shape[-2], device=q.device)[0, 0]  # (T, S)
        mask = visible if mask is None else mask & visible  # (..., T, S)
    if is_half(q):
        return run_in_float32(attention_formula, q, k, v, mask, bias, scale)
    return attention_formula(q, k, v, mask, bias, scale)


def attention_formula(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None, scale: float
) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention: softmax(scale · q kᵀ + bias) v, and the weights."""
    scores = (q * scale) @ k.mT  # (B, H, T, S)
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = softmax_formula(scores)  # (B, H, T, S)
    return weights @ v, weights  # (B, H, T, d_v)
