"""Multi-head attention: several attentions side by side, each in a part of the width."""

from qkv.torch.multi_head.attention import MultiHeadAttention
from qkv.torch.multi_head.heads import merge_heads, split_heads
from qkv.torch.multi_head.key_value_cache import KeyValueCache

__all__ = ["KeyValueCache", "MultiHeadAttention", "merge_heads", "split_heads"]
