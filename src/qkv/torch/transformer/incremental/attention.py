"""Multi-head attention of one new token of each text: what `MultiHeadAttention` does with a cache.

Queries, keys and values are one product, and where there is but one query, no order of tokens has
to be kept. Heads that share their keys are further queries of one head, and so are the beams of a
text before its memory: nothing is copied for them.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from qkv.torch.half_precision import upcast
from qkv.torch.multi_head import KeyValueCache, MultiHeadAttention
from qkv.torch.positional import rotary
from qkv.torch.transformer.incremental.projection import Projection

__all__ = ["IncrementalCrossAttention", "IncrementalSelfAttention"]


class IncrementalSelfAttention:
    """Self-attention of one new token of each text, to itself and to those in a cache.

    Args:
        attention: the layer whose parameters these are.
        one_row: there is a single text, on a CPU.
    """

    def __init__(self, attention: MultiHeadAttention, one_row: bool) -> None:
        _, n_heads, n_kv_heads, d_k, d_v = attention.sizes
        self.heads = n_kv_heads, n_heads // n_kv_heads
        self.widths = [n_heads * d_k, n_kv_heads * d_k, n_kv_heads * d_v]
        self.rotary = attention.rotary
        self.w_qkv = Projection.of(attention.w_q, attention.w_k, attention.w_v, one_row=one_row)
        self.w_o = Projection.of(attention.w_o, one_row=one_row)

    def __call__(self, x: Tensor, cache: KeyValueCache, bias: Tensor | None) -> Tensor:
        """x: (N, d_model), bias: (1, H, 1, S) or None -> (N, d_model)."""
        N, (G, R) = len(x), self.heads  # R heads of queries for each of the G of keys
        q, k, v = torch.split(self.w_qkv(x), self.widths, 1)
        q, k, v = q.view(N, G, R, -1), k.view(N, G, 1, -1), v.view(N, G, 1, -1)
        if self.rotary:
            position = torch.tensor([cache.length], device=x.device)  # (1,)
            q, k = rotary(q, position), rotary(k, position)
        keys, values = cache.append_unchecked(k, v)  # (N, G, S, d_k), (N, G, S, d_v)
        bias = None if bias is None else bias.reshape(1, G, R, -1)
        return self.w_o(_attend(q, keys, values, bias).reshape(N, -1))  # (N, d_model)


class IncrementalCrossAttention:
    """Attention of one new token of each text to the memory in a static cache.

    Args:
        attention: the layer whose parameters these are.
        one_row: there is a single text, on a CPU.
    """

    def __init__(self, attention: MultiHeadAttention, one_row: bool) -> None:
        _, n_heads, n_kv_heads, _, _ = attention.sizes
        self.heads = n_kv_heads, n_heads // n_kv_heads
        self.w_q = Projection.of(attention.w_q, one_row=one_row)
        self.w_o = Projection.of(attention.w_o, one_row=one_row)

    def __call__(self, x: Tensor, cache: KeyValueCache, bias: Tensor | None) -> Tensor:
        """x: (N, d_model), bias: (A, 1, 1, S) or None -> (N, d_model)."""
        keys, values, K = cache.shared_rows()  # (A, G, S, d_k), (A, G, S, d_v); N is A · K
        A, (G, R) = len(keys), self.heads
        q = self.w_q(x).view(A, K, G, R, -1).transpose(1, 2)  # (A, G, K, R, d_k)
        context = _attend(q.reshape(A, G, K * R, -1), keys, values, bias)  # (A, G, K · R, d_v)
        merged = context.view(A, G, K, R, -1).transpose(1, 2).reshape(len(x), -1)  # (N, H · d_v)
        return self.w_o(merged)  # (N, d_model)


def _attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None) -> Tensor:
    """Scaled dot-product attention; for so few queries a processor is fastest by plain products."""
    if q.device.type != "cpu":
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    dtype = q.dtype
    q, k, v = upcast(q), upcast(k), upcast(v)  # half precision: scores and sums in float32
    scores = (q * (1 / math.sqrt(q.shape[-1]))) @ k.mT  # (A, G, K · R, S)
    if bias is not None:
        scores += bias
    return (torch.softmax(scores, -1) @ v).to(dtype)  # (A, G, K · R, d_v)
