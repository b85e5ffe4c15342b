"""Top-k and top-p filtering: cut off the long tail of improbable tokens before sampling."""

import torch
from torch import Tensor

from qkv.shapes import check_count, check_range
from qkv.torch.attention.softmax import softmax
from qkv.torch.checks import check_shapes
from qkv.torch.decoding.stable_top_k import stable_top_k_mask

__all__ = ["top_k_filtering", "top_p_filtering"]


def top_k_filtering(scores: Tensor, top_k: int) -> Tensor:
    """Top-k filtering: keep the k likeliest tokens, of equals the lower ids; the others get −∞.

    As `qkv.numpy.top_k_filtering`.
    """
    check_shapes("top_k_filtering", scores=(scores, "... V+"))
    check_count("top_k_filtering", top_k=top_k)
    V, top_k = scores.shape[-1], int(top_k)
    if top_k >= V:
        return scores
    keep = stable_top_k_mask(scores.reshape(-1, V), top_k).reshape(scores.shape)  # (..., V)
    return scores.masked_fill(~keep, -torch.inf)


def top_p_filtering(scores: Tensor, top_p: float) -> Tensor:
    """Top-p (nucleus) filtering: keep the likeliest tokens whose mass reaches p, the rest get −∞.

    As `qkv.numpy.top_p_filtering`.
    """
    check_shapes("top_p_filtering", scores=(scores, "... V+"))
    check_range("top_p_filtering", "a number in (0, 1]", top_p=top_p)
    if top_p == 1:  # rounding may let the sum reach 1 too early
        return scores
    order = scores.argsort(dim=-1, descending=True, stable=True)  # (..., V)
    mass = softmax(scores).gather(-1, order).cumsum(-1)  # (..., V)
    keep_sorted = torch.ones_like(scores, dtype=torch.bool)
    keep_sorted[..., 1:] = mass[..., :-1] < float(top_p)  # those before it fall short of p
    keep = torch.empty_like(keep_sorted).scatter(-1, order, keep_sorted)
    return scores.masked_fill(~keep, -torch.inf)
