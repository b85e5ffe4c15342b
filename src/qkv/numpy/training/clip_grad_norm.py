"""Gradient clipping by norm, which keeps one bad batch from throwing the parameters far away."""

import math

from qkv.numpy.half_precision import upcast
from qkv.numpy.layer import Layer
from qkv.shapes import check_range

__all__ = ["clip_grad_norm"]


def clip_grad_norm(layer: Layer, max_norm: float) -> float:
    """Clip the norm of the gradient, of all parameters as one vector, to `max_norm`; in place.

    Args:
        layer: whose gradients; one that two places share counts once, a frozen one not at all.
        max_norm: the largest norm that stays as it is; math.inf only measures.
    Returns:
        The norm before. If it is not finite, neither are the gradients afterwards.
    Raises:
        ValueError: max_norm is no number above 0.
    Source: Pascanu, Mikolov and Bengio 2013, algorithm 1.
    """
    check_range("clip_grad_norm", "a number above 0", max_norm=max_norm)
    gradients = [gradient for _, gradient in layer.named_gradients()]
    flat = [upcast(gradient.reshape(-1)) for gradient in gradients]
    norm = math.sqrt(sum(float(g @ g) for g in flat))
    shrink = float(max_norm) / (norm + 1e-6)
    if not shrink >= 1:
        for gradient in gradients:
            gradient *= shrink
    return norm
