"""Decoding: greedy, sampling, beam search, and exhaustive search to measure them by.

All take a step function, from prefixes (N, t) to log-probabilities (N, V) of the next token.
`qkv.torch.decoding.step_function` describes it, with the protocol for one that keeps a cache.
"""

from qkv.decoding.length_normalization import *
from qkv.public_names import publish as _publish
from qkv.torch.decoding.beam_search import *
from qkv.torch.decoding.exhaustive_search import *
from qkv.torch.decoding.greedy import *
from qkv.torch.decoding.sampling import *
from qkv.torch.decoding.top_k_top_p import *

_publish(__name__)
