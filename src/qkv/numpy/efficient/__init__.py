"""Efficient attention for long texts: sparse masks, Linformer, Performer, blockwise attention."""

from qkv.numpy.efficient.blockwise import blockwise_attention, blockwise_attention_backward
from qkv.numpy.efficient.linformer import linformer_attention
from qkv.numpy.efficient.performer import orthogonal_random_features, performer_attention
from qkv.numpy.efficient.sparse_masks import global_mask, strided_mask, window_mask

__all__ = [
    "blockwise_attention",
    "blockwise_attention_backward",
    "global_mask",
    "linformer_attention",
    "orthogonal_random_features",
    "performer_attention",
    "strided_mask",
    "window_mask",
]
