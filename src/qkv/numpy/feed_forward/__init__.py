"""The feed-forward part: each position for itself, wider, bent, and narrow again."""

from qkv.numpy.feed_forward.activations import (
    gelu,
    gelu_backward,
    relu,
    relu_backward,
    silu,
    silu_backward,
)
from qkv.numpy.feed_forward.two_layers import FeedForward

__all__ = [
    "FeedForward",
    "gelu",
    "gelu_backward",
    "relu",
    "relu_backward",
    "silu",
    "silu_backward",
]
