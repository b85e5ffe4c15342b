"""Attention: scaled dot-product and additive attention, softmax and log-softmax."""

from qkv.numpy.attention.additive import additive_attention, additive_attention_backward
from qkv.numpy.attention.log_softmax import log_softmax, log_softmax_backward
from qkv.numpy.attention.scaled_dot_product import (
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)
from qkv.numpy.attention.softmax import softmax, softmax_backward

__all__ = [
    "additive_attention",
    "additive_attention_backward",
    "log_softmax",
    "log_softmax_backward",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_backward",
    "softmax",
    "softmax_backward",
]
