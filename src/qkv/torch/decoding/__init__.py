"""Decoding: greedy, sampling, beam search, and exhaustive search to measure them by.

All take a step function, from prefixes (N, t) to log-probabilities (N, V) of the next token.
`qkv.torch.decoding.step_function` describes it, with the protocol for one that keeps a cache.
"""

from qkv.decoding import length_normalizer
from qkv.torch.decoding.beam_search import beam_search
from qkv.torch.decoding.exhaustive_search import exhaustive_search
from qkv.torch.decoding.greedy import greedy
from qkv.torch.decoding.sampling import sample
from qkv.torch.decoding.top_k_top_p import keep_top_k, keep_top_p

__all__ = [
    "beam_search",
    "exhaustive_search",
    "greedy",
    "keep_top_k",
    "keep_top_p",
    "length_normalizer",
    "sample",
]
