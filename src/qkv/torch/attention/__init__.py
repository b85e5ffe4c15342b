"""Attention: scaled dot-product and additive attention, softmax and log-softmax."""

from qkv.torch.attention.additive import additive_attention
from qkv.torch.attention.log_softmax import log_softmax
from qkv.torch.attention.scaled_dot_product import scaled_dot_product_attention
from qkv.torch.attention.softmax import softmax

__all__ = ["additive_attention", "log_softmax", "scaled_dot_product_attention", "softmax"]
