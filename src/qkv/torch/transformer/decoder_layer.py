"""Decoder layer: causal self-attention, cross-attention, feed-forward."""

from functools import partial
from typing import Any, Self

import torch
from torch import Tensor

from qkv.config import TransformerConfig
from qkv.shapes import check_bool
from qkv.shapes.transformer import check_caches, check_memory
from qkv.torch.add_norm import AddNorm
from qkv.torch.checks import checked_by
from qkv.torch.feed_forward import FeedForward
from qkv.torch.layer import Layer
from qkv.torch.multi_head import MultiHeadAttention
from qkv.torch.transformer.attention_maps import AttentionMaps, add_maps
from qkv.torch.transformer.decoder_cache import DecoderLayerCache

__all__ = ["DecoderLayer"]


class DecoderLayer(Layer):
    """Decoder layer: causal self-attention, cross-attention, feed-forward, each in Add & Norm.

    As `qkv.numpy.DecoderLayer`, with:
        rng: draws the parameters, and what dropout keeps; None is torch's own generator.
        dtype, device: of the parameters, and so of what the layer takes.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        activation: str = "relu",
        norm: str = "layer",
        norm_first: bool = False,
        bias: bool = True,
        cross_attention: bool = True,
        *,
        d_k: int | None = None,
        d_v: int | None = None,
        n_kv_heads: int | None = None,
        rotary: bool = False,
        norm_eps: float = 1e-5,
        feed_forward_bias: bool = True,
        norm_bias: bool = True,
        causal: bool = True,
        rng: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        check_bool("DecoderLayer", causal=causal)
        self.causal = causal
        factory_kwargs: dict[str, Any] = {"rng": rng, "dtype": dtype, "device": device}
        add_norm_options = d_model, norm_first, dropout, norm, norm_eps, norm_bias
        add_norm = partial(AddNorm, *add_norm_options, **factory_kwargs)
        attention_options = d_model, n_heads, d_k, d_v, bias
        attention = partial(
            MultiHeadAttention, *attention_options, n_kv_heads=n_kv_heads, **factory_kwargs
        )
        self.self_attention = attention(rotary=rotary)
        self.self_attention_add_norm = add_norm()
        self.cross_attention: MultiHeadAttention | None = None
        if cross_attention:
            self.cross_attention = attention()
            self.cross_attention_add_norm = add_norm()
        self.feed_forward = FeedForward(
            d_model, d_ff, activation, feed_forward_bias, **factory_kwargs
        )
        self.feed_forward_add_norm = add_norm()

    @classmethod
    def from_config(cls, config: TransformerConfig, **options: Any) -> Self:
        """A layer of a model of this configuration; options: rng, device, cross_attention."""
        return cls(**config.layer_options, causal=config.causal, **options)

    def _check_inputs(
        self,
        call: str,
        x: Tensor,
        memory: Tensor | None = None,
        *,
        memory_mask: Tensor | None = None,
        cache: DecoderLayerCache | None = None,
        attention_maps: AttentionMaps | None = None,
        **options: Any,
    ) -> None:
        """Refuse what this layer cannot use, in the name of a call of it or around it."""
        check_memory(call, self.cross_attention is not None, memory)
        check_caches(call, self.causal, cache)
        own, other = (None, None) if cache is None else cache
        if isinstance(self.self_attention, MultiHeadAttention):  # or a module in its place
            self.self_attention._check_inputs(call, x, causal=self.causal, cache=own, **options)
        if isinstance(self.cross_attention, MultiHeadAttention):
            self.cross_attention._check_inputs(
                call, x, memory, mask=memory_mask, cache=other, mask_name="memory_mask"
            )

    @checked_by(_check_inputs, "DecoderLayer")
    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        bias: Tensor | None = None,
        attention_maps: AttentionMaps | None = None,
        cache: DecoderLayerCache | None = None,
    ) -> Tensor:
        """Causal self-attention, cross-attention to the memory, then feed-forward.

        As `qkv.numpy.DecoderLayer.__call__`.
        """
        need_weights = attention_maps is not None

        def attend_to_self(x: Tensor) -> Tensor:
            kv_cache = None if cache is None else cache.self_attention
            out: Tensor
            out, weights = self.self_attention(
                x,
                mask=mask,
                bias=bias,
                causal=self.causal,
                need_weights=need_weights,
                cache=kv_cache,
            )
            add_maps(attention_maps, "self_attention", weights)
            return out

        def attend_to_memory(x: Tensor) -> Tensor:
            assert self.cross_attention is not None  # for the type checker
            kv_cache = None if cache is None else cache.cross_attention
            out: Tensor
            out, weights = self.cross_attention(
                x, memory, mask=memory_mask, need_weights=need_weights, cache=kv_cache
            )
            add_maps(attention_maps, "cross_attention", weights)
            return out

        x = self.self_attention_add_norm(x, attend_to_self)  # (B, T, d_model)
        if self.cross_attention is not None:
            x = self.cross_attention_add_norm(x, attend_to_memory)
        x = self.feed_forward_add_norm(x, self.feed_forward)
        return x
