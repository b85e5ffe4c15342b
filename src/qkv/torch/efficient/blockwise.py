"""Blockwise attention with online softmax, as in FlashAttention: exact, without (T, S) weights."""

import math

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from qkv.shapes import check_count
from qkv.torch.checks import check_attention
from qkv.torch.efficient.score_blocks import score_blocks

__all__ = ["blockwise_attention"]


def blockwise_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    causal: bool = False,
    scale: float | None = None,
    block_size: int = 128,
) -> tuple[Tensor, Tensor, Tensor]:
    """Blockwise attention: `scaled_dot_product_attention` without its (T, S) weights in memory.

    As `qkv.numpy.blockwise_attention`.

    Autograd keeps no scores, but recomputes those of a block of queries. The fused kernel does this
    too, on chip: where speed counts, take it. The gradient of a score is off by rounding, about ε
    |dout| |v|, also where it is 0 because one key has all the weight; in dq that error is
    multiplied by |k|, in dk by |q|. The gradient of peak + log(total) flows through the total
    alone.
    """
    check_attention("blockwise_attention", q, k, v, mask, bias, scale=scale, causal=causal)
    check_count("blockwise_attention", block_size=block_size)
    T, S = q.shape[-2], k.shape[-2]
    shape = (*q.shape[:-1], S)
    masks = None if mask is None else mask.expand(shape)  # a view: nothing is copied
    biases = None if bias is None else bias.expand(shape)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    blocks = []
    for start in range(0, max(T, 1), block_size):
        stop = min(start + block_size, T)
        rows = slice(start, stop)
        block = checkpoint(
            _block_of_queries,
            q[..., rows, :],
            k,
            v,
            None if masks is None else masks[..., rows, :],
            None if biases is None else biases[..., rows, :],
            torch.arange(start, stop, device=q.device)[:, None] + S - T if causal else None,
            scale,
            block_size,
            S - T + stop if causal else S,
            use_reentrant=False,
            preserve_rng_state=False,
        )
        blocks.append(block)
    outs, peaks, totals = zip(*blocks, strict=True)
    # (B, H, T, d_v), (B, H, T), (B, H, T)
    return torch.cat(outs, -2), torch.cat(peaks, -1), torch.cat(totals, -1)


def _block_of_queries(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    masks: Tensor | None,
    biases: Tensor | None,
    last_keys: Tensor | None,
    scale: float,
    block_size: int,
    n_keys: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Output, peak and total of a block of queries, which see the first `n_keys` keys alone."""
    sum_dtype = torch.promote_types(q.dtype, torch.float32)  # sums outgrow half precision
    lowest = torch.finfo(sum_dtype).min
    peak = torch.full_like(q[..., :1], lowest, dtype=sum_dtype)  # (B, H, R, 1)
    total = torch.zeros_like(peak)  # (B, H, R, 1)
    # The mix of no keys: zeros, through which gradients can flow even where there are no keys.
    mixed = ((q @ k[..., :0, :].mT) @ v[..., :0, :]).to(sum_dtype)  # (B, H, R, d_v)
    queries = q.to(sum_dtype) * scale  # (B, H, R, d_k)
    for cols, scores in score_blocks(queries, k, masks, biases, last_keys, block_size, n_keys):
        # A peak only keeps exp in range; it cancels, so no gradient has to go through it.
        higher = torch.maximum(peak, scores.detach().amax(-1, keepdim=True))
        weights = torch.exp(scores - higher)  # (B, H, R, C)
        shrink = torch.exp(peak - higher)
        total = total * shrink + weights.sum(-1, keepdim=True)
        mixed = mixed * shrink + weights @ v[..., cols, :].to(weights.dtype)
        peak = higher
    out = mixed / total.masked_fill(total == 0, 1)  # (B, H, R, d_v)
    return out.to(q.dtype), peak.squeeze(-1), total.squeeze(-1)
