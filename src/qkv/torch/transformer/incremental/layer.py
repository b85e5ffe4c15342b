"""One decoder layer for one new token of each text: what `DecoderLayer` does with a cache."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from qkv.torch.add_norm import AddNorm, LayerNorm, RMSNorm
from qkv.torch.feed_forward import FeedForward
from qkv.torch.transformer.decoder_cache import DecoderLayerCache
from qkv.torch.transformer.decoder_layer import DecoderLayer
from qkv.torch.transformer.incremental.attention import (
    IncrementalCrossAttention,
    IncrementalSelfAttention,
)
from qkv.torch.transformer.incremental.projection import Projection

__all__ = ["IncrementalDecoderLayer", "normalize"]


class IncrementalDecoderLayer:
    """Self-attention, cross-attention and feed-forward of one new token of each text.

    Args:
        layer: whose parameters these are.
        one_row: there is a single text, on a CPU.
    """

    def __init__(self, layer: DecoderLayer, one_row: bool) -> None:
        self.layer = layer
        self.self_attention = IncrementalSelfAttention(layer.self_attention, one_row)
        self.cross_attention: IncrementalCrossAttention | None = None
        if layer.cross_attention is not None:
            self.cross_attention = IncrementalCrossAttention(layer.cross_attention, one_row)
        self.feed_forward = IncrementalFeedForward(layer.feed_forward, one_row)

    def __call__(
        self,
        x: Tensor,
        cache: DecoderLayerCache,
        bias: Tensor | None,
        memory_bias: Tensor | None,
    ) -> Tensor:
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
        one_row: there is a single text, on a CPU.
    """

    def __init__(self, feed_forward: FeedForward, one_row: bool) -> None:
        self.activation, self.activated = feed_forward.activation, feed_forward.activated
        self.w_1 = Projection.of(feed_forward.w_1, one_row=one_row)
        self.w_2 = Projection.of(feed_forward.w_2, one_row=one_row)
        if self.activation == "swiglu":
            self.w_gate = Projection.of(feed_forward.w_gate, one_row=one_row)

    def __call__(self, x: Tensor) -> Tensor:
        """x: (N, d_model) -> (N, d_model)."""
        hidden = self.w_1(x)  # (N, d_ff)
        if self.activation == "relu":
            return self.w_2(torch.relu_(hidden))
        if self.activation == "swiglu":
            return self.w_2(F.silu(self.w_gate(x)) * hidden)
        return self.w_2(self.activated(hidden))


def _add_norm(add_norm: AddNorm, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
    if add_norm.norm_placement == "pre":
        return x + sublayer(normalize(add_norm.norm, x))
    return normalize(add_norm.norm, x + sublayer(x))


def normalize(norm: LayerNorm | RMSNorm, x: Tensor) -> Tensor:
    """Layer norm or RMS norm: x (N, d_model) -> (N, d_model)."""
    if isinstance(norm, LayerNorm):
        return F.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
    return F.rms_norm(x, norm.normalized_shape, norm.weight, norm.eps)
