"""Blockwise attention as a Triton kernel; Triton is imported at the first call."""

from qkv.torch.efficient.triton_attention.attention import triton_attention

__all__ = ["triton_attention"]
