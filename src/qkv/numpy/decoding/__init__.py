"""Decoding: greedy, sampling, beam search, and exhaustive search to measure them by.

All take a step function, from prefixes (N, t) to log-probabilities (N, V) of the next token.
`qkv.numpy.decoding.step_function` describes it, with the protocol for one that keeps a cache.
"""

from qkv.decoding import length_normalizer
from qkv.numpy.decoding.beam_search import beam_search
from qkv.numpy.decoding.exhaustive_search import exhaustive_search
from qkv.numpy.decoding.greedy import greedy
from qkv.numpy.decoding.sampling import sample
from qkv.numpy.decoding.top_k_top_p import keep_top_k, keep_top_p

__all__ = [
    "beam_search",
    "exhaustive_search",
    "greedy",
    "keep_top_k",
    "keep_top_p",
    "length_normalizer",
    "sample",
]
