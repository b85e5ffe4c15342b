"""Keep one bad batch from throwing the parameters far away."""

from torch import Tensor, nn

from qkv.shapes import check_number

__all__ = ["clip_gradients"]


def clip_gradients(layer: nn.Module, max_norm: float) -> Tensor:
    """Shorten the gradient, all parameters' as one vector, to at most `max_norm`; in place.

    Args:
        layer: whose gradients; one that two places share counts once, a frozen one not at all.
        max_norm: the largest length that stays as it is; math.inf only measures.
    Returns:
        The length before, still on the device. If it is not finite, neither are the gradients
        afterwards.
    Raises:
        ValueError: max_norm is no number above 0.
    Source: Pascanu, Mikolov and Bengio 2013, algorithm 1.
    """
    check_number("clip_gradients", "max_norm", max_norm, above=True)
    moving = [parameter for parameter in layer.parameters() if parameter.requires_grad]
    return nn.utils.clip_grad_norm_(moving, float(max_norm))
