"""Gradient clipping by norm, which keeps one bad batch from throwing the parameters far away."""

from torch import Tensor, nn

from qkv.shapes import check_range

__all__ = ["clip_grad_norm"]


def clip_grad_norm(layer: nn.Module, max_norm: float) -> Tensor:
    """Clip the norm of the gradient, of all parameters as one vector, to `max_norm`; in place.

    As `qkv.numpy.clip_grad_norm`.

    The norm stays on the device.
    """
    check_range("clip_grad_norm", "a number above 0", max_norm=max_norm)
    trainable = [parameter for parameter in layer.parameters() if parameter.requires_grad]
    return nn.utils.clip_grad_norm_(trainable, float(max_norm))
