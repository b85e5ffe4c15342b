"""The reference room: every concept in NumPy, each forward with its backward beside it."""

from qkv.numpy.attention import (
    additive_attention,
    additive_attention_backward,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
    softmax,
    softmax_backward,
)
from qkv.numpy.dropout import (
    Dropout,
    dropout,
    dropout_backward,
)
from qkv.numpy.layer import (
    Layer,
)
from qkv.numpy.linear import (
    Linear,
    linear,
    linear_backward,
)
from qkv.numpy.masks import (
    causal_mask,
    combine_masks,
    padding_mask,
)
from qkv.numpy.positional import (
    LearnedPositions,
    alibi_bias,
    alibi_slopes,
    rotary,
    rotary_backward,
    sinusoidal_encoding,
)

__all__ = [
    "Dropout",
    "Layer",
    "LearnedPositions",
    "Linear",
    "additive_attention",
    "additive_attention_backward",
    "alibi_bias",
    "alibi_slopes",
    "causal_mask",
    "combine_masks",
    "dropout",
    "dropout_backward",
    "linear",
    "linear_backward",
    "padding_mask",
    "rotary",
    "rotary_backward",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_backward",
    "sinusoidal_encoding",
    "softmax",
    "softmax_backward",
]
