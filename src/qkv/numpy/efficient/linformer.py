"""Linformer attention: keys and values projected to low rank along the sequence."""

import numpy as np

from qkv.numpy.array_types import Bools, Floats
from qkv.numpy.attention.scaled_dot_product import attend
from qkv.numpy.checks import check_attention
from qkv.numpy.half_precision import is_half, run_in_float32

__all__ = ["linformer_attention"]


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
    """Linformer attention, to r projections of the S keys: softmax(q (eᵀ k)ᵀ / √d_k) fᵀ v.

    Costs T · r scores instead of T · S. It cannot be causal: a summary mixes all positions, and so
    would show each query its future.

    Args:
        q: (B, H, T, d_k) queries; any number of leading axes, also none.
        k: (B, H, S, d_k) keys.
        v: (B, H, S, d_v) values.
        e, f: (S, r) learnt projections of keys and of values, along the sequence.
        mask: bool, broadcast to (B, H, 1, S); True = may attend. A hidden key enters no summary.
        scale: multiplies the scores; None means 1/√d_k.
        need_weights: False returns None in the place of the weights.
    Returns:
        (B, H, T, d_v) mixed values, and the (B, H, T, r) weights of the summaries or None.
        Where every key is hidden, zeros. Half precision is computed in float32.
    Raises:
        ValueError: shapes or dtypes do not fit together, or the mask differs between queries.
    Source: Wang et al. 2020 (Linformer), section 4; their E and F are eᵀ and fᵀ.
    """
    check_attention(
        "linformer_attention",
        q,
        k,
        v,
        mask,
        None,
        scale=scale,
        mask_spec="bool -> *batch 1 S",
        e=(e, "S r+"),
        f=(f, "S r"),
    )
    if is_half(q):
        return run_in_float32(_formula, q, k, v, e, f, mask, scale, need_weights)
    return _formula(q, k, v, e, f, mask, scale, need_weights)


def _formula(
    q: Floats,
    k: Floats,
    v: Floats,
    e: Floats,
    f: Floats,
    mask: Bools | None,
    scale: float | None,
    need_weights: bool,
) -> tuple[Floats, Floats | None]:
    """Linformer attention: to r summaries of the keys that are not hidden."""
    if mask is not None:
        key_mask = np.broadcast_to(mask, (*q.shape[:-2], 1, k.shape[-2])).mT  # (B, H, S, 1)
        k, v = np.where(key_mask, k, 0), np.where(key_mask, v, 0)
    k, v = e.T @ k, f.T @ v  # (B, H, r, d_k), (B, H, r, d_v)
    return attend(q, k, v, scale=scale, need_weights=need_weights)
