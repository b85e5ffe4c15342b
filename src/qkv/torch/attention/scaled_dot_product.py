"""Scaled dot-product attention, as in the Transformer."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from qkv.torch.attention.softmax import softmax
from qkv.torch.checks import check_attention
from qkv.torch.half_precision import is_half, run_in_float32
from qkv.torch.masks import causal_mask, combine_masks

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
    T, S = q.shape[-2], k.shape[-2]
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    if not need_weights and _is_slow_in_half(q, k, v):
        options = {"mask": mask, "bias": bias, "scale": scale, "causal": causal}
        return run_in_float32(scaled_dot_product_attention, q, k, v, **options, need_weights=False)
    if not need_weights and causal and T == S and mask is None and bias is None:
        # The one case in which the kernel's own causal mask, aligned top-left, is ours.
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale), None
    if causal:
        mask = combine_masks(mask, causal_mask(T, S, device=q.device)[0, 0])  # (..., T, S)
    if not need_weights:
        return _fused(q, k, v, mask, bias, scale), None

    if is_half(q):
        return run_in_float32(
            scaled_dot_product_attention, q, k, v, mask=mask, bias=bias, scale=scale
        )
    scores = (q * scale) @ k.mT  # (B, H, T, S)
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = softmax(scores)  # (B, H, T, S)
    return weights @ v, weights  # (B, H, T, d_v)


def _is_slow_in_half(*inputs: Tensor) -> bool:
    """Whether the fused kernel would run its backward in half precision on a CPU.

    For short texts that takes several times as long as in float32: at 13 tokens ten times, at 128
    twice, and with bfloat16 autocast about as long as all the rest of a small model's step.
    """
    q = inputs[0]
    return q.device.type == "cpu" and is_half(q) and any(x.requires_grad for x in inputs)


def _fused(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None, scale: float
) -> Tensor:
    """torch's fused kernel, which takes one additive mask and knows no empty rows."""
    if mask is None and bias is None:
        return F.scaled_dot_product_attention(q, k, v, scale=scale)
    bias = q.new_zeros(1, 1) if bias is None else bias
    if mask is not None:
        bias = torch.where(mask, bias, -torch.inf)  # (..., T, S)
    bias = bias if bias.dim() > 1 else bias.reshape(1, -1)  # the kernel asks for two axes
    # Kernels differ in what an empty row gives, and some give NaN gradients: hide it from them all.
    empty = torch.isneginf(bias).all(-1, keepdim=True)  # (..., T, 1)
    bias = bias.masked_fill(empty, 0)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=scale)
    return out.masked_fill(empty, 0)  # (B, H, T, d_v)
