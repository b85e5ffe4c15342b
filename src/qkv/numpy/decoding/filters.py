"""Which tokens may be drawn: cut the long tail of the improbable off."""

import numpy as np

from qkv.numpy.attention.softmax import Floats, softmax
from qkv.numpy.decoding.steps import top_mask
from qkv.shapes import check_next, check_top_k, check_top_p

__all__ = ["keep_top_k", "keep_top_p"]


def keep_top_k(scores: Floats, top_k: int) -> Floats:
    """Keep the k likeliest tokens, of equals the lower ids; the others get −∞.

    Args:
        scores: (..., V) log-probabilities or logits.
        top_k: how many, at least 1; V or more keeps all.
    Raises:
        ValueError: scores are no float array, or top_k is no count.
    Source: Fan, Lewis and Dauphin 2018, section 5.4.
    """
    check_next("keep_top_k", scores)
    check_top_k("keep_top_k", top_k)
    V, top_k = scores.shape[-1], int(top_k)
    if top_k >= V:
        return scores
    kept = top_mask(scores.reshape(-1, V), top_k).reshape(scores.shape)  # (..., V)
    return np.where(kept, scores, -np.inf)


def keep_top_p(scores: Floats, top_p: float) -> Floats:
    """Keep the likeliest tokens until their mass reaches p, at least one; the others get −∞.

    It is the smallest such set; of equals it takes the lower ids.

    Args:
        scores: (..., V) log-probabilities or logits; their softmax is the mass.
        top_p: p in (0, 1].
    Raises:
        ValueError: scores are no float array, or top_p is outside (0, 1].
    Source: Holtzman et al. 2020, section 3.1.
    """
    check_next("keep_top_p", scores)
    check_top_p("keep_top_p", top_p)
    if top_p == 1:  # rounding may let the sum reach 1 too early
        return scores
    order = np.argsort(-scores, -1, kind="stable")  # (..., V)
    mass = np.take_along_axis(softmax(scores), order, -1).cumsum(-1)  # (..., V)
    falling = np.ones(scores.shape, bool)
    falling[..., 1:] = mass[..., :-1] < float(top_p)  # needed, if those before have not reached p
    kept = np.empty_like(falling)
    np.put_along_axis(kept, order, falling, -1)
    return np.where(kept, scores, -np.inf)
