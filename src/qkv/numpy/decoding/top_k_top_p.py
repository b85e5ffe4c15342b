"""Top-k and top-p filtering: cut off the long tail of improbable tokens before sampling."""

import numpy as np

from qkv.numpy.array_types import Floats
from qkv.numpy.attention.softmax import softmax
from qkv.numpy.checks import check_shapes
from qkv.numpy.decoding.stable_top_k import stable_top_k_mask
from qkv.shapes import check_count, check_range

__all__ = ["top_k_filtering", "top_p_filtering"]


def top_k_filtering(scores: Floats, top_k: int) -> Floats:
    """Top-k filtering: keep the k likeliest tokens, of equals the lower ids; the others get −∞.

    Args:
        scores: (..., V) log-probabilities or logits.
        top_k: how many, at least 1; V or more keeps all.
    Raises:
        ValueError: scores are of no float dtype, or top_k is no count.
    Source: Fan, Lewis and Dauphin 2018, section 5.4.
    """
    check_shapes("top_k_filtering", scores=(scores, "... V+"))
    check_count("top_k_filtering", top_k=top_k)
    V, top_k = scores.shape[-1], int(top_k)
    if top_k >= V:
        return scores
    keep = stable_top_k_mask(scores.reshape(-1, V), top_k).reshape(scores.shape)  # (..., V)
    return np.where(keep, scores, -np.inf)


def top_p_filtering(scores: Floats, top_p: float) -> Floats:
    """Top-p (nucleus) filtering: keep the likeliest tokens whose mass reaches p, the rest get −∞.

    It is the smallest such set, never empty; of equals it takes the lower ids.

    Args:
        scores: (..., V) log-probabilities or logits; their softmax is the mass.
        top_p: p in (0, 1].
    Raises:
        ValueError: scores are of no float dtype, or top_p is outside (0, 1].
    Source: Holtzman et al. 2020, section 3.1.
    """
    check_shapes("top_p_filtering", scores=(scores, "... V+"))
    check_range("top_p_filtering", "a number in (0, 1]", top_p=top_p)
    if top_p == 1:  # rounding may let the sum reach 1 too early
        return scores
    order = np.argsort(-scores, -1, kind="stable")  # (..., V)
    mass = np.take_along_axis(softmax(scores), order, -1).cumsum(-1)  # (..., V)
    keep_sorted = np.ones(scores.shape, bool)
    keep_sorted[..., 1:] = mass[..., :-1] < float(top_p)  # those before it fall short of p
    keep = np.empty_like(keep_sorted)
    np.put_along_axis(keep, order, keep_sorted, -1)
    return np.where(keep, scores, -np.inf)
