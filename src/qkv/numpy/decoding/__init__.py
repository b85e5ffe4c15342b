"""Decoding: from a model of the next token to whole sentences.

All take a step: a function from prefixes (N, t) to log-probabilities (N, V) of the next token.
`qkv.numpy.decoding.steps` describes it, with the protocol for one that keeps a cache.
"""

from qkv.numpy.decoding.beam_search import beam_search
from qkv.numpy.decoding.brute_force import brute_force
from qkv.numpy.decoding.filters import keep_top_k, keep_top_p
from qkv.numpy.decoding.finished import length_divisor
from qkv.numpy.decoding.one_path import greedy, sample

__all__ = [
    "beam_search",
    "brute_force",
    "greedy",
    "keep_top_k",
    "keep_top_p",
    "length_divisor",
    "sample",
]
