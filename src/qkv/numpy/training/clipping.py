"""Keep one bad batch from throwing the parameters far away."""

import math

import numpy as np

from qkv.numpy.layer import Layer
from qkv.shapes import check_number

__all__ = ["clip_gradients"]


def clip_gradients(layer: Layer, max_norm: float) -> float:
    """Shorten the gradient, all parameters' as one vector, to at most `max_norm`; in place.

    Args:
        layer: whose gradients; one that two places share counts once, a frozen one not at all.
        max_norm: the largest length that stays as it is; math.inf only measures.
    Returns:
        The length before. If it is not finite, neither are the gradients afterwards.
    Raises:
        ValueError: max_norm is no number above 0.
    Source: Pascanu, Mikolov and Bengio 2013, algorithm 1.
    """
    check_number("clip_gradients", "max_norm", max_norm, above=True)
    gradients = [gradient for _, gradient in layer.named_gradients()]
    # No float16 for the sum: the square of 256 is beyond it.
    flat = [
        g.reshape(-1).astype(np.promote_types(g.dtype, np.float32), copy=False) for g in gradients
    ]
    norm = math.sqrt(sum(float(g @ g) for g in flat))
    shrink = float(max_norm) / (norm + 1e-6)
    if not shrink >= 1:
        for gradient in gradients:
            gradient *= shrink
    return norm
