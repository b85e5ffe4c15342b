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
        max_norm: the largest norm that stays as it is; math.inf measures a finite norm only.
    Returns:
        The norm before. Step only if it is finite. After an infinite one, as of float32 beyond
        1e19, finite gradients are 0 and infinite ones NaN; after NaN, or where max_norm is
        infinite too, all are NaN. `torch.nn.utils.clip_grad_norm_` does the same.
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
