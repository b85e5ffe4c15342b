"""Attention maps: the weights of every attention in one call of a model, by dotted name."""

from typing import TypeAlias

from torch import Tensor

__all__ = ["AttentionMaps", "add_maps", "empty_maps"]

AttentionMaps: TypeAlias = dict[str, Tensor]


def empty_maps(attention_maps: AttentionMaps | None) -> AttentionMaps | None:
    """A dict for the maps of one part of a model, or None where no maps are wanted."""
    return None if attention_maps is None else {}


def add_maps(
    attention_maps: AttentionMaps | None, name: str, new: AttentionMaps | Tensor | None
) -> None:
    """Add the maps of a part under its name: those of one attention, or of several."""
    if attention_maps is None or new is None:
        return
    if isinstance(new, dict):
        attention_maps.update({f"{name}.{inner}": weights for inner, weights in new.items()})
    else:
        attention_maps[name] = new
