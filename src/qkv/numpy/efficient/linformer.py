"""Attention to a short summary of the keys: low rank along the sequence."""

import numpy as np

from qkv.numpy.attention.half_precision import HALF, in_float32
from qkv.numpy.attention.scaled_dot_product import scaled_dot_product_attention
from qkv.numpy.attention.softmax import Floats
from qkv.numpy.masks import Bools
from qkv.shapes import check_attention, check_key_mask, check_projections

__all__ = ["linformer_attention"]

NOT_CAUSAL = "each of the r keys mixes all positions, so Linformer cannot be causal"


def linformer_attention(
    q: Floats,
    k: Floats,
    v: Floats,
    e: Floats,
    f: Floats,
    *,
    mask: Bools | None = None,
    scale: float | None = None,
    need_weights: bool = True,
) -> tuple[Floats, Floats | None]:
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
        need_weights: False keeps no weights, which saves time and memory.
    Returns:
        (B, H, T, d_v) mixed values, and the (B, H, T, r) weights of the summaries or None.
        Where every key is hidden, zeros. Half precision is computed in float32.
    Raises:
        ValueError: shapes or dtypes do not fit together, or the mask differs between queries.
    Source: Wang et al. 2020 (Linformer), section 4; their E and F are eᵀ and fᵀ.
    """
    call = "linformer_attention"
    check_attention(call, q, k, v, mask, None, scale=scale)
    check_projections(call, k, e, f)
    check_key_mask(call, q, k, mask, NOT_CAUSAL)
    if q.dtype == HALF:
        return in_float32(
            linformer_attention, q, k, v, e, f, mask=mask, scale=scale, need_weights=need_weights
        )
    if mask is not None:
        shown = np.broadcast_to(mask, (*q.shape[:-2], 1, k.shape[-2])).mT  # (B, H, S, 1)
        k, v = np.where(shown, k, 0), np.where(shown, v, 0)
    k, v = e.T @ k, f.T @ v  # (B, H, r, d_k), (B, H, r, d_v)
    return scaled_dot_product_attention(q, k, v, scale=scale, need_weights=need_weights)
