"""Memory-efficient attention by torch's fused kernel, for callers who need no weights."""

import torch
import torch.nn.functional as F
from torch import Tensor

from qkv.torch.half_precision import is_half, run_in_float32
from qkv.torch.masks import causal_mask, combine_masks_formula


def memory_efficient_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    bias: Tensor | None,
    scale: float,
    causal: bool,
) -> Tensor:
    """The output of `scaled_dot_product_attention`, without its checks and its (T, S) weights.

    The kernel takes one additive mask, and knows no empty rows.

    Args:
        q, k, v, mask, bias, scale, causal: as `scaled_dot_product_attention` takes them.
    Returns:
        (B, H, T, d_v) mixed values.
    """
    if _is_slow_in_half(q, k, v):
        return run_in_float32(memory_efficient_attention, q, k, v, mask, bias, scale, causal)
    T, S = q.shape[-2], k.shape[-2]
    if causal and T == S and mask is None and bias is None:
        # The one case in which the kernel's own causal mask, aligned top-left, is ours.
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale)
    if causal and T > 1:  # a single query is the last token, which sees all
        mask = combine_masks_formula(mask, causal_mask(T, S, device=q.device)[0, 0])  # (..., T, S)
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


def _is_slow_in_half(*inputs: Tensor) -> bool:
    """Whether the fused kernel would run its backward in half precision on a CPU.

    For short texts that takes several times as long as in float32: at 13 tokens ten times, at 128
    twice, and with bfloat16 autocast about as long as all the rest of a small model's step.
    """
    q = inputs[0]
    return q.device.type == "cpu" and is_half(q) and any(x.requires_grad for x in inputs)
