"""The feed-forward part: each position for itself, wider, bent, and narrow again."""

from qkv.torch.feed_forward.activations import (
    gelu,
    relu,
    silu,
)
from qkv.torch.feed_forward.two_layers import FeedForward

__all__ = [
    "FeedForward",
    "gelu",
    "relu",
    "silu",
]
