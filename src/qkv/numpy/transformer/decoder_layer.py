"""Decoder layer: causal self-attention, cross-attention, feed-forward."""

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from qkv.config import TransformerConfig
from qkv.numpy.add_norm import AddNorm
from qkv.numpy.array_types import Bools, Floats
from qkv.numpy.checks import checked_by
from qkv.numpy.feed_forward import FeedForward
from qkv.numpy.layer import Layer
from qkv.numpy.multi_head import MultiHeadAttention
from qkv.numpy.transformer.attention_maps import AttentionMaps, add_maps
from qkv.numpy.transformer.decoder_cache import DecoderLayerCache
from qkv.shapes import check_bool
from qkv.shapes.transformer import check_caches, check_memory

__all__ = ["DecoderLayer"]


class DecoderLayer(Layer):
    """Decoder layer: causal self-attention, cross-attention, feed-forward, each in Add & Norm.

    Args:
        d_model, n_heads, d_ff: widths and number of heads.
        dropout: the share of what each sub-layer adds that is left out while training. The weights
            of attention and the inside of the feed-forward part have none, as in the paper.
        activation: one of `ACTIVATIONS`, as `FeedForward` takes it.
        norm, norm_first: one of `NORMS`, and whether pre-norm, as `AddNorm` takes them.
        bias: in the projections of attention.
        cross_attention: False leaves out the attention to a memory, as models of one text do.
        d_k, d_v, n_kv_heads: as `MultiHeadAttention` takes them, for both attentions.
        rotary: rotate queries and keys of self-attention by their positions (RoPE).
        norm_eps: ε of each norm.
        feed_forward_bias, norm_bias: in the feed-forward part, and in each layer norm.
        causal: each token attends to itself and to those before it; False lets it attend to those
            after it too, but for a mask.
        rng: draws the parameters, and what dropout keeps; None is a generator of its own.
        dtype: of the parameters, and so of what the layer takes.
    Raises:
        ValueError: the sizes do not fit together, or a word is unknown.
    Source: Vaswani et al. 2017, section 3.1; without a memory: Liu et al. 2018, section 4.2.3.
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
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        check_bool("DecoderLayer", causal=causal)
        self.causal = causal
        factory_kwargs: dict[str, Any] = {"rng": rng or np.random.default_rng(), "dtype": dtype}
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
        """A layer of a model of this configuration; options are cross_attention, rng and dtype."""
        return cls(**config.layer_options, causal=config.causal, **options)

    def _check_inputs(
        self,
        call: str,
        x: Floats,
        memory: Floats | None = None,
        *,
        memory_mask: Bools | None = None,
        cache: DecoderLayerCache | None = None,
        attention_maps: AttentionMaps | None = None,
        **options: Any,
    ) -> None:
        """Refuse what this layer cannot use, in the name of a call of it or around it."""
        check_memory(call, self.cross_attention is not None, memory)
        check_caches(call, self.causal, cache)
        own, other = (None, None) if cache is None else cache
        if isinstance(self.self_attention, MultiHeadAttention):  # or a function in its place
            self.self_attention._check_inputs(call, x, causal=self.causal, cache=own, **options)
        if isinstance(self.cross_attention, MultiHeadAttention):
            self.cross_attention._check_inputs(
                call, x, memory, mask=memory_mask, cache=other, mask_name="memory_mask"
            )

    @checked_by(_check_inputs, "DecoderLayer")
    def __call__(
        self,
        x: Floats,
        memory: Floats | None = None,
        *,
        mask: Bools | None = None,
        memory_mask: Bools | None = None,
        bias: Floats | None = None,
        attention_maps: AttentionMaps | None = None,
        cache: DecoderLayerCache | None = None,
    ) -> Floats:
        """Causal self-attention, cross-attention to the memory, then feed-forward.

        Args:
            x: (B, T, d_model).
            memory: (B, S, d_model), what the encoder gave; None without cross-attention.
            mask: bool, broadcast to (B, H, T, T); True = may attend, if causality allows it.
            memory_mask: bool, broadcast to (B, H, T, S); True = may attend.
            bias: float, broadcast to (B, H, T, T); added to the scores of self-attention.
            attention_maps: a dict to put "self_attention", (B, H, T, T), and "cross_attention",
                (B, H, T, S), into.
            cache: what the tokens before x have left; in eval mode. The last axis of mask and bias
                then counts those tokens too.
        Returns:
            (B, T, d_model).
        Raises:
            ValueError: memory is missing, or there is nothing to attend to it; or there is a cache
                and the layer is not causal.
        """
        need_weights = attention_maps is not None

        def attend_to_self(x: Floats) -> Floats:
            kv_cache = None if cache is None else cache.self_attention
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

        def attend_to_memory(x: Floats) -> Floats:
            assert self.cross_attention is not None  # for the type checker
            kv_cache = None if cache is None else cache.cross_attention
            out, weights = self.cross_attention(
                x, memory, mask=memory_mask, need_weights=need_weights, cache=kv_cache
            )
            add_maps(attention_maps, "cross_attention", weights)
            return out

        x = self.self_attention_add_norm(x, attend_to_self)  # (B, T, d_model)
        if self.cross_attention is not None:
            x = self.cross_attention_add_norm(x, attend_to_memory)
        return self.feed_forward_add_norm(x, self.feed_forward)

    def backward(self, dout: Floats) -> tuple[Floats, Floats | None]:
        """dout: (B, T, d_model) -> dx, and dmemory or None; adds to all parameters' gradients."""
        dmemory = None

        def cross_attention_backward(dout: Floats) -> Floats:
            nonlocal dmemory
            assert self.cross_attention is not None  # for the type checker
            dx, dmemory, _ = self.cross_attention.backward(dout)
            return dx

        dout = self.feed_forward_add_norm.backward(dout, self.feed_forward.backward)
        if self.cross_attention is not None:
            dout = self.cross_attention_add_norm.backward(dout, cross_attention_backward)
        dx = self.self_attention_add_norm.backward(
            dout, lambda dout: self.self_attention.backward(dout)[0]
        )
        return dx, dmemory
