"""The position-wise feed-forward network and its activations."""

from qkv.numpy.feed_forward.activations import (
    gelu,
    gelu_backward,
    relu,
    relu_backward,
    silu,
    silu_backward,
)
from qkv.numpy.feed_forward.feed_forward import FeedForward

__all__ = [
    "FeedForward",
    "gelu",
    "gelu_backward",
    "relu",
    "relu_backward",
    "silu",
    "silu_backward",
]
