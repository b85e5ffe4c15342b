"""Decoding: greedy, sampling, beam search, and exhaustive search to measure them by.

All take a step function, from prefixes (N, t) to log-probabilities (N, V) of the next token.
`qkv.numpy.decoding.step_function` describes it, with the protocol for one that keeps a cache.
"""

from qkv.decoding.length_normalization import *
from qkv.numpy.decoding.beam_search import *
from qkv.numpy.decoding.exhaustive_search import *
from qkv.numpy.decoding.greedy import *
from qkv.numpy.decoding.sampling import *
from qkv.numpy.decoding.top_k_top_p import *
from qkv.public_names import publish as _publish

_publish(__name__)
