"""One decoder layer for one new token of each text: what `DecoderLayer` does with a cache."""

from collections.abc import Callable

import numpy as np

from qkv.numpy.add_norm import AddNorm, LayerNorm, RMSNorm
from qkv.numpy.array_types import Floats
from qkv.numpy.feed_forward import FeedForward, silu
from qkv.numpy.transformer.decoder_cache import DecoderLayerCache
from qkv.numpy.transformer.decoder_layer import DecoderLayer
from qkv.numpy.transformer.incremental.attention import (
    IncrementalCrossAttention,
    IncrementalSelfAttention,
)
from qkv.numpy.transformer.incremental.projection import Projection

__all__ = ["IncrementalDecoderLayer", "normalize"]


class IncrementalDecoderLayer:
    """Self-attention, cross-attention and feed-forward of one new token of each text.

    Args:
        layer: whose parameters these are.
    """

    def __init__(self, layer: DecoderLayer) -> None:
        self.layer = layer
        self.self_attention = IncrementalSelfAttention(layer.self_attention)
        self.cross_attention: IncrementalCrossAttention | None = None
        if layer.cross_attention is not None:
            self.cross_attention = IncrementalCrossAttention(layer.cross_attention)
        self.feed_forward = IncrementalFeedForward(layer.feed_forward)

    def __call__(
        self,
        x: Floats,
        cache: DecoderLayerCache,
        bias: Floats | None,
        memory_bias: Floats | None,
    ) -> Floats:
        """x: (N, d_model), whose keys and values are added to the cache -> (N, d_model)."""
        layer, cross_attention = self.layer, self.cross_attention
        x = _add_norm(
            layer.self_attention_add_norm,
            x,
            lambda x: self.self_attention(x, cache.self_attention, bias),
        )
        if cross_attention is not None:
            x = _add_norm(
                layer.cross_attention_add_norm,
                x,
                lambda x: cross_attention(x, cache.cross_attention, memory_bias),
            )
        return _add_norm(layer.feed_forward_add_norm, x, self.feed_forward)


class IncrementalFeedForward:
    """Position-wise feed-forward network of one token of each text.

    Args:
        feed_forward: whose parameters these are.
    """

    def __init__(self, feed_forward: FeedForward) -> None:
        self.activation, self.activated = feed_forward.activation, feed_forward.activated
        self.w_1 = Projection.of(feed_forward.w_1)
        self.w_2 = Projection.of(feed_forward.w_2)
        if self.activation == "swiglu":
            self.w_gate = Projection.of(feed_forward.w_gate)

    def __call__(self, x: Floats) -> Floats:
        """x: (N, d_model) -> (N, d_model)."""
        hidden = self.w_1(x)  # (N, d_ff)
        if self.activation == "relu":
            return self.w_2(np.maximum(hidden, 0, out=hidden))
        if self.activation == "swiglu":
            return self.w_2(silu(self.w_gate(x)) * hidden)
        return self.w_2(self.activated(hidden))


def _add_norm(add_norm: AddNorm, x: Floats, sublayer: Callable[[Floats], Floats]) -> Floats:
    if add_norm.norm_placement == "pre":
        return x + sublayer(normalize(add_norm.norm, x))
    return normalize(add_norm.norm, x + sublayer(x))


def normalize(norm: LayerNorm | RMSNorm, x: Floats) -> Floats:
    """Layer norm or RMS norm: x (N, d_model) -> (N, d_model)."""
    d_model = x.shape[1]
    if isinstance(norm, LayerNorm):
        x = x - x.sum(1, keepdims=True) * (1 / d_model)
    variance = np.vecdot(x, x)[:, None] * (1 / d_model)  # (N, 1)
    out: Floats = x * (1 / np.sqrt(variance + norm.eps))  # (N, d_model)
    out *= norm.params["weight"]
    if "bias" in norm.params:
        out += norm.params["bias"]
    return out
