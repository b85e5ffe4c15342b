"""Multi-head attention of one new token of each text: what `MultiHeadAttention` does with a cache.

Queries, keys and values are one product, and where there is but one query, no order of tokens has
to be kept. Heads that share their keys are further queries of one head, and so are the beams of a
text before its memory: nothing is copied for them.
"""

import math

import numpy as np

from qkv.numpy.array_types import Floats
from qkv.numpy.attention.softmax import softmax_in_place
from qkv.numpy.multi_head import KeyValueCache, MultiHeadAttention
from qkv.numpy.positional import rotary
from qkv.numpy.transformer.incremental.projection import Projection

__all__ = ["IncrementalCrossAttention", "IncrementalSelfAttention"]


class IncrementalSelfAttention:
    """Self-attention of one new token of each text, to itself and to those in a cache.

    Args:
        attention: the layer whose parameters these are.
    """

    def __init__(self, attention: MultiHeadAttention) -> None:
        _, n_heads, n_kv_heads, d_k, _ = attention.sizes
        self.heads = n_kv_heads, n_heads // n_kv_heads
        self.ends = n_heads * d_k, (n_heads + n_kv_heads) * d_k  # of the queries, of the keys
        self.rotary = attention.rotary
        self.w_qkv = Projection.of(attention.w_q, attention.w_k, attention.w_v)
        self.w_o = Projection.of(attention.w_o)

    def __call__(self, x: Floats, cache: KeyValueCache, bias: Floats | None) -> Floats:
        """x: (N, d_model), bias: (1, H, 1, S) or None -> (N, d_model)."""
        N, (G, R), (q_end, k_end) = len(x), self.heads, self.ends
        qkv = self.w_qkv(x)  # (N, H · d_k + G · d_k + G · d_v)
        q = qkv[:, :q_end].reshape(N, G, R, -1)  # R heads of queries for each of the G of keys
        k = qkv[:, q_end:k_end].reshape(N, G, 1, -1)
        v = qkv[:, k_end:].reshape(N, G, 1, -1)
        if self.rotary:
            position = np.array([cache.length])  # (1,)
            q, k = rotary(q, position), rotary(k, position)
        keys, values = cache.append_unchecked(k, v)  # (N, G, S, d_k), (N, G, S, d_v)
        bias = None if bias is None else bias.reshape(1, G, R, -1)
        return self.w_o(_attend(q, keys, values, bias).reshape(N, -1))  # (N, d_model)


class IncrementalCrossAttention:
    """Attention of one new token of each text to the memory in a static cache.

    Args:
        attention: the layer whose parameters these are.
    """

    def __init__(self, attention: MultiHeadAttention) -> None:
        _, n_heads, n_kv_heads, _, _ = attention.sizes
        self.heads = n_kv_heads, n_heads // n_kv_heads
        self.w_q = Projection.of(attention.w_q)
        self.w_o = Projection.of(attention.w_o)

    def __call__(self, x: Floats, cache: KeyValueCache, bias: Floats | None) -> Floats:
        """x: (N, d_model), bias: (A, 1, 1, S) or None -> (N, d_model)."""
        keys, values, K = cache.shared_rows()  # (A, G, S, d_k), (A, G, S, d_v); N is A · K
        A, (G, R) = len(keys), self.heads
        q = self.w_q(x).reshape(A, K, G, R, -1).swapaxes(1, 2)  # (A, G, K, R, d_k)
        context = _attend(q.reshape(A, G, K * R, -1), keys, values, bias)  # (A, G, K · R, d_v)
        merged = context.reshape(A, G, K, R, -1).swapaxes(1, 2).reshape(len(x), -1)
        return self.w_o(merged)  # (N, H · d_v) -> (N, d_model)


def _attend(q: Floats, k: Floats, v: Floats, bias: Floats | None) -> Floats:
    """Scaled dot-product attention of few queries, whose keys are all open but for a bias."""
    scores = (q * (1 / math.sqrt(q.shape[-1]))) @ k.mT  # (A, G, K · R, S)
    if bias is not None:
        scores += bias
    mixed: Floats = softmax_in_place(scores) @ v  # (A, G, K · R, d_v)
    return mixed
