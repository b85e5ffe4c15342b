"""Linear layer and cross-entropy in one, a few rows at a time: the logits are never all there.

The scores of a batch for every word of a vocabulary are its largest array by far: 2,000 tokens and
4,000 words are 32 MB, which would go from memory to the processor and back a dozen times on the way
through softmax, loss and both gradients. Rows that fit into the cache go there once. The gradient
of the scores, softmax − q, is known as soon as they are, so it is used at once, and not kept.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["linear_cross_entropy"]

# How many at a time. Each block reads all of the weight, and adds to all of its gradient, so few
# rows are dear where there are many words; many leave the cache. 2²² are 16 MB in float32.
SCORES = {"cpu": 2**22, "cuda": 2**27}


def linear_cross_entropy(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    label_smoothing: float = 0.0,
    pad_id: int | None = None,
) -> Tensor:
    """Cross-entropy of x weightᵀ + bias, summed: −Σ q log softmax, with label smoothing in q.

    Args:
        x: (N, d_model).
        weight, bias: (V, d_model), and (V,) or None.
        targets: (N,) token ids.
        label_smoothing: ε; q is 1 − ε on the target and ε / V on each.
        pad_id: a row of the weight that is a constant, and gets no gradient; None for none.
    Returns:
        One number, of at least float32. Under autocast, the products are of its dtype.

    In a training loop of any model, in place of logits and their cross-entropy:

    >>> x, weight = torch.randn(6, 8), torch.randn(50, 8, requires_grad=True)
    >>> targets = torch.tensor([3, 1, 4, 1, 5, 9])
    >>> loss = linear_cross_entropy(x, weight, None, targets, label_smoothing=0.1) / len(targets)
    >>> plain = torch.nn.functional.cross_entropy(x @ weight.T, targets, label_smoothing=0.1)
    >>> torch.allclose(loss, plain)
    True
    """
    apply: Any = _LinearCrossEntropy.apply
    loss: Tensor = apply(x, weight, bias, targets, label_smoothing, pad_id)
    return loss


class _LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        label_smoothing: float,
        pad_id: int | None,
    ) -> Tensor:
        kind = x.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype
        with torch.autocast(kind, enabled=False):
            loss, *gradients = _both(x.to(dtype), weight.to(dtype), bias, targets, label_smoothing)
        dx, dweight, dbias = gradients
        if pad_id is not None:
            dweight[pad_id] = 0
        ctx.save_for_backward(dx.to(x.dtype), dweight, dbias if bias is not None else None)
        return loss

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> tuple[Tensor | None, ...]:
        scaled = [None if g is None else g * dout for g in ctx.saved_tensors]
        return *scaled, None, None, None


def _both(
    x: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, label_smoothing: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The loss, and its gradients for x, weight and bias."""
    V = len(weight)
    size = max(1, SCORES.get(x.device.type, 2**20) // V)
    sum_dtype = torch.promote_types(x.dtype, torch.float32)
    mean = weight.mean(0)  # x · mean is the mean of all scores
    loss = torch.zeros((), dtype=sum_dtype, device=x.device)
    dx, dweight = torch.empty_like(x), torch.zeros_like(weight, dtype=sum_dtype)
    dbias = torch.zeros(V, dtype=sum_dtype, device=x.device)
    for rows, out, ids in zip(*(torch.split(t, size) for t in (x, dx, targets)), strict=True):
        scores = (rows @ weight.T).to(sum_dtype)  # (n, V)
        average = (rows @ mean).to(sum_dtype)  # (n,)
        if bias is not None:
            scores, average = scores + bias, average + bias.mean()
        q = scores.softmax(-1)  # (n, V)
        peak, target = scores.amax(-1), scores.gather(1, ids[:, None])[:, 0]  # (n,), (n,)
        # −log q of the peak is log Σ exp(score − peak), which a large peak would round away.
        loss -= q.amax(-1).log().sum()
        loss += ((1 - label_smoothing) * (peak - target) + label_smoothing * (peak - average)).sum()
        # The gradient of the scores is softmax less what should have been, which goes in its place.
        q.scatter_add_(1, ids[:, None], torch.full_like(target, label_smoothing - 1)[:, None])
        if label_smoothing:
            q -= label_smoothing / V
        if bias is not None:
            dbias += q.sum(0)
        q = q.to(x.dtype)
        torch.mm(q, weight, out=out)
        if x.dtype == sum_dtype:
            dweight.addmm_(q.T, rows)
        else:
            dweight += q.T @ rows
    return loss, dx, dweight, dbias
