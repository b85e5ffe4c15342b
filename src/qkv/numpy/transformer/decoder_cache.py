"""Decoder cache: the key-value caches of one decoder layer."""

from typing import NamedTuple

from qkv.numpy.multi_head import KeyValueCache

__all__ = ["DecoderLayerCache"]


class DecoderLayerCache(NamedTuple):
    """Key-value caches of a decoder layer: the tokens so far, and the memory, which is static."""

    self_attention: KeyValueCache
    cross_attention: KeyValueCache
