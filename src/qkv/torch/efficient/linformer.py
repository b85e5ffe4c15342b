"""Attention to a short summary of the keys: low rank along the sequence."""

import torch
from torch import Tensor

from qkv.shapes import check_attention, check_key_mask, check_projections
from qkv.torch.attention.half_precision import in_float32, is_half
from qkv.torch.attention.scaled_dot_product import scaled_dot_product_attention
from qkv.torch.layer import converts

__all__ = ["linformer_attention"]

NOT_CAUSAL = "each of the r keys mixes all positions, so Linformer cannot be causal"


def linformer_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    e: Tensor,
    f: Tensor,
    *,
    mask: Tensor | None = None,
    scale: float | None = None,
    need_weights: bool = True,
) -> tuple[Tensor, Tensor | None]:
    """Mix r summaries in the place of S values: softmax(q (eᵀ k)ᵀ / √d_k) fᵀ v.

    Costs T · r scores instead of T · S. It cannot be causal: a summary mixes all positions, and so
    would show each query its future.

    Args:
        q: (B, H, T, d_k) queries; any number of leading axes, also none.
        k: (B, H, S, d_k) keys.
        v: (B, H, S, d_v) values.
        e, f: (S, r) learnt projections of keys and of values, along the sequence.
        mask: bool, broadcast to (B, H, 1, S); True = may attend. A hidden key enters no summary.
        scale: multiplies the scores; None means 1/√d_k.
        need_weights: False takes the fused kernel, which keeps no weights.
    Returns:
        (B, H, T, d_v) mixed values, and the (B, H, T, r) weights of the summaries or None.
        Where every key is hidden, zeros. Half precision is computed in float32, but for the
        summaries that the fused kernel takes.
    Raises:
        ValueError: shapes or dtypes do not fit together, or the mask differs between queries.
    Source: Wang et al. 2020 (Linformer), section 4; their E and F are eᵀ and fᵀ.
    """
    call = "linformer_attention"
    check_attention(call, q, k, v, mask, None, scale=scale)
    e, f = like_autocast(q, e, f)
    check_projections(call, k, e, f)
    check_key_mask(call, q, k, mask, NOT_CAUSAL)
    if need_weights and is_half(q):
        return in_float32(linformer_attention, q, k, v, e, f, mask=mask, scale=scale)
    if mask is not None:
        shown = mask.expand(*q.shape[:-2], 1, k.shape[-2]).mT  # (B, H, S, 1)
        k, v = torch.where(shown, k, 0), torch.where(shown, v, 0)
    k, v = like_autocast(q, e.mT @ k, f.mT @ v)  # (B, H, r, d_k), (B, H, r, d_v)
    return scaled_dot_product_attention(q, k, v, scale=scale, need_weights=need_weights)


def like_autocast(q: Tensor, *given: Tensor) -> list[Tensor]:
    """Parameters and products in the type of q under autocast, where types differ by right."""
    if not converts(q):
        return list(given)
    floats = [isinstance(x, Tensor) and x.is_floating_point() for x in given]
    return [x.to(q.dtype) if ok else x for x, ok in zip(given, floats, strict=True)]
