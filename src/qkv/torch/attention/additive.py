"""Additive attention, with a learnt score (Bahdanau), the older kind."""

import torch
from torch import Tensor

from qkv.torch.attention.softmax import softmax_formula
from qkv.torch.checks import check_attention
from qkv.torch.half_precision import is_half, run_in_float32

__all__ = ["additive_attention"]


def additive_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_s: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Additive attention, by a learnt score: softmax(w_s · tanh(q w_q + k w_k) + bias) v.

    As `qkv.numpy.additive_attention`.
    """
    check_attention(
        "additive_attention",
        q,
        k,
        v,
        mask,
        bias,
        d_q="d_q",
        w_q=(w_q, "d_q d_a"),
        w_k=(w_k, "d_k d_a"),
        w_s=(w_s, "d_a"),
    )
    if is_half(q):
        return run_in_float32(_formula, q, k, v, w_q, w_k, w_s, mask, bias)
    return _formula(q, k, v, w_q, w_k, w_s, mask, bias)


def _formula(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_s: Tensor,
    mask: Tensor | None,
    bias: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Additive attention: softmax(w_s · tanh(q w_q + k w_k) + bias) v, and the weights."""
    queries = (q @ w_q)[..., :, None, :]  # (B, H, T, 1, d_a)
    keys = (k @ w_k)[..., None, :, :]  # (B, H, 1, S, d_a)
    scores = torch.tanh(queries + keys) @ w_s  # (B, H, T, S)
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = softmax_formula(scores)  # (B, H, T, S)
    return weights @ v, weights  # (B, H, T, d_v)
