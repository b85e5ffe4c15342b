"""The position-wise feed-forward network and its activations."""

from qkv.torch.feed_forward.activations import (
    gelu,
    relu,
    silu,
)
from qkv.torch.feed_forward.feed_forward import FeedForward

__all__ = [
    "FeedForward",
    "gelu",
    "relu",
    "silu",
]
