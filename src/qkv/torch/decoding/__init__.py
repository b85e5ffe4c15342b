"""Decoding: from a model of the next token to whole sentences.

All take a step: a function from prefixes (N, t) to log-probabilities (N, V) of the next token.
`qkv.torch.decoding.steps` describes it, with the protocol for one that keeps a cache.
"""

from qkv.torch.decoding.beam_search import beam_search
from qkv.torch.decoding.brute_force import brute_force
from qkv.torch.decoding.filters import keep_top_k, keep_top_p
from qkv.torch.decoding.finished import length_divisor
from qkv.torch.decoding.one_path import greedy, sample

__all__ = [
    "beam_search",
    "brute_force",
    "greedy",
    "keep_top_k",
    "keep_top_p",
    "length_divisor",
    "sample",
]
