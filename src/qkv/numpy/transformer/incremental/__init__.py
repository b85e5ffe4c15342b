"""Incremental decoding: the decoder for one new token of each text, without checks.

`Decoder` with caches computes the same, and is the one to read. At one token a step, most of its
time goes into checks that cannot fail any more, and into laying out what stays as it is. Here the
checks are those of a search's first step, which goes through the model itself.
"""

from qkv.numpy.transformer.incremental.decoder import DecoderParts, IncrementalDecoder

__all__ = ["DecoderParts", "IncrementalDecoder"]
