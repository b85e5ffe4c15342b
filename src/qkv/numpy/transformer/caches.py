"""What one layer of a decoder keeps from token to token."""

from typing import NamedTuple

from qkv.numpy.multi_head import KeyValueCache

__all__ = ["LayerCaches"]


class LayerCaches(NamedTuple):
    """The keys and values of the tokens so far, and those of the memory."""

    self_attention: KeyValueCache
    cross_attention: KeyValueCache
