"""Linformer attention: keys and values projected to low rank along the sequence."""

import torch
from torch import Tensor

from qkv.torch.attention.scaled_dot_product import attend
from qkv.torch.checks import check_attention, check_shapes, under_autocast
from qkv.torch.half_precision import is_half, run_in_float32

__all__ = ["linformer_attention"]


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
    """Linformer attention, to r projections of the S keys: softmax(q (eᵀ k)ᵀ / √d_k) fᵀ v.

    As `qkv.numpy.linformer_attention`, with:
        need_weights: False takes the fused kernel, which keeps no weights.

    The summaries that the fused kernel takes stay in half precision.
    """
    call = "linformer_attention"
    check_attention(call, q, k, v, mask, None, scale=scale, mask_spec="bool -> *batch 1 S")
    e, f = cast_like_autocast(q, e, f)
    check_shapes(call, k=(k, "*batch S d_k"), e=(e, "S r+"), f=(f, "S r"))
    if need_weights and is_half(q):
        return run_in_float32(_formula, q, k, v, e, f, mask, scale, need_weights)
    return _formula(q, k, v, e, f, mask, scale, need_weights)


def _formula(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    e: Tensor,
    f: Tensor,
    mask: Tensor | None,
    scale: float | None,
    need_weights: bool,
) -> tuple[Tensor, Tensor | None]:
    """Linformer attention: to r summaries of the keys that are not hidden."""
    if mask is not None:
        key_mask = mask.expand(*q.shape[:-2], 1, k.shape[-2]).mT  # (B, H, S, 1)
        k, v = torch.where(key_mask, k, 0), torch.where(key_mask, v, 0)
    k, v = cast_like_autocast(q, e.mT @ k, f.mT @ v)  # (B, H, r, d_k), (B, H, r, d_v)
    return attend(q, k, v, scale=scale, need_weights=need_weights)


def cast_like_autocast(q: Tensor, *tensors: Tensor) -> list[Tensor]:
    """Cast parameters and products to the dtype of q under autocast, where dtypes may differ."""
    if not under_autocast(q):
        return list(tensors)
    floats = [isinstance(x, Tensor) and x.is_floating_point() for x in tensors]
    return [x.to(q.dtype) if is_float else x for x, is_float in zip(tensors, floats, strict=True)]
