"""What attention looked at, gathered from all layers under their dotted names."""

from typing import TypeAlias

from qkv.numpy.attention.softmax import Floats

__all__ = ["Weights", "empty", "gather"]

Weights: TypeAlias = dict[str, Floats]


def empty(weights: Weights | None) -> Weights | None:
    """A dict for the weights of a part, if any are wanted."""
    return None if weights is None else {}


def gather(weights: Weights | None, name: str, found: Weights | Floats | None) -> None:
    """Put the weights of a part under its name: one attention's, or those of several."""
    if weights is None or found is None:
        return
    if isinstance(found, dict):
        weights.update({f"{name}.{inner}": value for inner, value in found.items()})
    else:
        weights[name] = found
