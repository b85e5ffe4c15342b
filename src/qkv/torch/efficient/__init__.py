"""Attention for long texts: sparse patterns, low rank, random features, and exact blocks."""

from qkv.torch.efficient.blockwise import blockwise_attention
from qkv.torch.efficient.linformer import linformer_attention
from qkv.torch.efficient.patterns import global_mask, strided_mask, window_mask
from qkv.torch.efficient.performer import draw_features, performer_attention

__all__ = [
    "blockwise_attention",
    "draw_features",
    "global_mask",
    "linformer_attention",
    "performer_attention",
    "strided_mask",
    "window_mask",
]
