"""The reference room: every concept in NumPy, each forward with its backward beside it."""

from qkv.numpy.attention import (
    additive_attention,
    additive_attention_backward,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
    softmax,
    softmax_backward,
)
from qkv.numpy.masks import causal_mask, combine_masks, padding_mask

__all__ = [
    "additive_attention",
    "additive_attention_backward",
    "causal_mask",
    "combine_masks",
    "padding_mask",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_backward",
    "softmax",
    "softmax_backward",
]
