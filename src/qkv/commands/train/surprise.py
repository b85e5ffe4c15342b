"""Projection and cross-entropy in one, a few rows at a time.

The scores of a batch for every word of a vocabulary are its largest array by far: 2,000 tokens and
4,000 words are 32 MB, which would go from memory to the processor and back a dozen times on the way
through softmax, loss and both gradients. Rows that fit into the cache go there once. The gradient
of the scores, softmax − q, is known as soon as they are, so it is used at once, and not kept.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["surprise"]

SCORES = {"cpu": 2**20, "cuda": 2**27}  # how many at a time: what a cache, or a GPU, has room for


def surprise(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    words: Tensor,
    label_smoothing: float = 0.0,
    constant: int | None = None,
) -> Tensor:
    """Sum the surprise over all words: −Σ q log softmax(x weightᵀ + bias), as `cross_entropy`.

    Args:
        x: (N, d_model).
        weight, bias: (V, d_model), and (V,) or None.
        words: (N,), those that came.
        label_smoothing: ε; q is 1 − ε on the word and ε / V on each.
        constant: a row of the weight that gets no gradient, such as that of padding.
    Returns:
        One number, of at least float32. Under autocast, the products are of its dtype.
    """
    apply: Any = _Surprise.apply
    loss: Tensor = apply(x, weight, bias, words, label_smoothing, constant)
    return loss


class _Surprise(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        words: Tensor,
        label_smoothing: float,
        constant: int | None,
    ) -> Tensor:
        kind = x.device.type
        narrow = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype
        with torch.autocast(kind, enabled=False):
            loss, *gradients = _both(x.to(narrow), weight.to(narrow), bias, words, label_smoothing)
        dx, dweight, dbias = gradients
        if constant is not None:
            dweight[constant] = 0
        ctx.save_for_backward(dx.to(x.dtype), dweight, dbias if bias is not None else None)
        return loss

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> tuple[Tensor | None, ...]:
        scaled = [None if g is None else g * dout for g in ctx.saved_tensors]
        return *scaled, None, None, None


def _both(
    x: Tensor, weight: Tensor, bias: Tensor | None, words: Tensor, label_smoothing: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The loss, and its gradients for x, weight and bias."""
    V, size = len(weight), max(1, SCORES.get(x.device.type, 2**20) // len(weight))
    wide = torch.promote_types(x.dtype, torch.float32)
    mean = weight.mean(0)  # x · mean is the mean of all scores
    loss = torch.zeros((), dtype=wide, device=x.device)
    dx, dweight = torch.empty_like(x), torch.zeros_like(weight, dtype=wide)
    dbias = torch.zeros(V, dtype=wide, device=x.device)
    for rows, out, at in zip(*(torch.split(t, size) for t in (x, dx, words)), strict=True):
        scores, average = (rows @ weight.T).to(wide), (rows @ mean).to(wide)  # (n, V), (n,)
        if bias is not None:
            scores, average = scores + bias, average + bias.mean()
        q = scores.softmax(-1)  # (n, V)
        peak, came = scores.amax(-1), scores.gather(1, at[:, None])[:, 0]  # (n,), (n,)
        # −log q of the peak is log Σ exp(score − peak), which a large peak would round away.
        loss -= q.amax(-1).log().sum()
        loss += ((1 - label_smoothing) * (peak - came) + label_smoothing * (peak - average)).sum()
        # The gradient of the scores is softmax less what should have been, which goes in its place.
        q.scatter_add_(1, at[:, None], torch.full_like(came, label_smoothing - 1)[:, None])
        if label_smoothing:
            q -= label_smoothing / V
        if bias is not None:
            dbias += q.sum(0)
        q = q.to(x.dtype)
        torch.mm(q, weight, out=out)
        if x.dtype == wide:
            dweight.addmm_(q.T, rows)
        else:
            dweight += q.T @ rows
    return loss, dx, dweight, dbias
