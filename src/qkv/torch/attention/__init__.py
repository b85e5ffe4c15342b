"""Attention: scores become weights, weights mix values."""

from qkv.torch.attention.additive import additive_attention
from qkv.torch.attention.scaled_dot_product import scaled_dot_product_attention
from qkv.torch.attention.softmax import softmax

__all__ = ["additive_attention", "scaled_dot_product_attention", "softmax"]
