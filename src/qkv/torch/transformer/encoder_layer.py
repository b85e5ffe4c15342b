"""Encoder layer: self-attention and feed-forward, each in Add & Norm."""

from functools import partial
from typing import Any, Self

import torch
from torch import Tensor

from qkv.config import TransformerConfig
from qkv.torch.add_norm import AddNorm
from qkv.torch.checks import checked_by
from qkv.torch.feed_forward import FeedForward
from qkv.torch.layer import Layer
from qkv.torch.multi_head import MultiHeadAttention
from qkv.torch.transformer.attention_maps import AttentionMaps, add_maps

__all__ = ["EncoderLayer"]


class EncoderLayer(Layer):
    """Encoder layer: self-attention and feed-forward, each in Add & Norm.

    As `qkv.numpy.EncoderLayer`, with:
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
        *,
        d_k: int | None = None,
        d_v: int | None = None,
        n_kv_heads: int | None = None,
        rotary: bool = False,
        norm_eps: float = 1e-5,
        feed_forward_bias: bool = True,
        norm_bias: bool = True,
        rng: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        factory_kwargs: dict[str, Any] = {"rng": rng, "dtype": dtype, "device": device}
        add_norm_options = d_model, norm_first, dropout, norm, norm_eps, norm_bias
        add_norm = partial(AddNorm, *add_norm_options, **factory_kwargs)
        self.self_attention = MultiHeadAttention(
            d_model, n_heads, d_k, d_v, bias, n_kv_heads=n_kv_heads, rotary=rotary, **factory_kwargs
        )
        self.self_attention_add_norm = add_norm()
        self.feed_forward = FeedForward(
            d_model, d_ff, activation, feed_forward_bias, **factory_kwargs
        )
        self.feed_forward_add_norm = add_norm()

    @classmethod
    def from_config(cls, config: TransformerConfig, **factory_kwargs: Any) -> Self:
        """A layer of a model of this configuration; factory_kwargs are rng, dtype and device."""
        return cls(**config.layer_options, **factory_kwargs)

    def _check_inputs(
        self,
        call: str,
        x: Tensor,
        *,
        attention_maps: AttentionMaps | None = None,
        **options: Any,
    ) -> None:
        """Refuse what this layer cannot use, in the name of a call of it or around it."""
        if isinstance(self.self_attention, MultiHeadAttention):  # or a module in its place
            self.self_attention._check_inputs(call, x, **options)

    @checked_by(_check_inputs, "EncoderLayer")
    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        attention_maps: AttentionMaps | None = None,
    ) -> Tensor:
        """Self-attention, then feed-forward.

        As `qkv.numpy.EncoderLayer.__call__`.
        """

        def attend(x: Tensor) -> Tensor:
            out: Tensor
            out, weights = self.self_attention(
                x, mask=mask, bias=bias, need_weights=attention_maps is not None
            )
            add_maps(attention_maps, "self_attention", weights)
            return out

        x = self.self_attention_add_norm(x, attend)  # (B, S, d_model)
        x = self.feed_forward_add_norm(x, self.feed_forward)
        return x
