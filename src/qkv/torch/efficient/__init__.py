"""Efficient attention for long texts: sparse masks, Linformer, Performer, blockwise attention."""

from qkv.torch.efficient.blockwise import blockwise_attention
from qkv.torch.efficient.linformer import linformer_attention
from qkv.torch.efficient.performer import orthogonal_random_features, performer_attention
from qkv.torch.efficient.sparse_masks import global_mask, strided_mask, window_mask
from qkv.torch.efficient.triton_attention import triton_attention

__all__ = [
    "blockwise_attention",
    "global_mask",
    "linformer_attention",
    "orthogonal_random_features",
    "performer_attention",
    "strided_mask",
    "triton_attention",
    "window_mask",
]
