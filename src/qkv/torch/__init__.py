"""The torch room: the same names and calls as `qkv.numpy`; autograd takes the backward's place."""

from qkv.torch.attention import additive_attention, scaled_dot_product_attention, softmax
from qkv.torch.masks import causal_mask, combine_masks, padding_mask

__all__ = [
    "additive_attention",
    "causal_mask",
    "combine_masks",
    "padding_mask",
    "scaled_dot_product_attention",
    "softmax",
]
