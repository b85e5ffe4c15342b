"""Attention for long texts: sparse patterns, low rank, random features, and exact blocks."""

from qkv.numpy.efficient.blockwise import blockwise_attention, blockwise_attention_backward
from qkv.numpy.efficient.linformer import linformer_attention
from qkv.numpy.efficient.patterns import global_mask, strided_mask, window_mask
from qkv.numpy.efficient.performer import draw_features, performer_attention

__all__ = [
    "blockwise_attention",
    "blockwise_attention_backward",
    "draw_features",
    "global_mask",
    "linformer_attention",
    "performer_attention",
    "strided_mask",
    "window_mask",
]
