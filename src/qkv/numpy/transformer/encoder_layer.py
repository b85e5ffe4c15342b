"""Encoder layer: self-attention and feed-forward, each in Add & Norm."""

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

__all__ = ["EncoderLayer"]


class EncoderLayer(Layer):
    """Encoder layer: self-attention and feed-forward, each in Add & Norm.

    Args:
        d_model, n_heads, d_ff: widths and number of heads.
        dropout: the share of what each sub-layer adds that is left out while training. The weights
            of attention and the inside of the feed-forward part have none, as in the paper.
        activation: one of `ACTIVATIONS`, as `FeedForward` takes it.
        norm, norm_first: one of `NORMS`, and whether pre-norm, as `AddNorm` takes them.
        bias: in the projections of attention.
        d_k, d_v, n_kv_heads, rotary: as `MultiHeadAttention` takes them.
        norm_eps: ε of each norm.
        feed_forward_bias, norm_bias: in the feed-forward part, and in each layer norm.
        rng: draws the parameters, and what dropout keeps; None is a generator of its own.
        dtype: of the parameters, and so of what the layer takes.
    Raises:
        ValueError: the sizes do not fit together, or a word is unknown.
    Source: Vaswani et al. 2017, section 3.1.
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
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        factory_kwargs: dict[str, Any] = {"rng": rng or np.random.default_rng(), "dtype": dtype}
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
        """A layer of a model of this configuration; factory_kwargs are rng and dtype."""
        return cls(**config.layer_options, **factory_kwargs)

    def _check_inputs(
        self,
        call: str,
        x: Floats,
        *,
        attention_maps: AttentionMaps | None = None,
        **options: Any,
    ) -> None:
        """Refuse what this layer cannot use, in the name of a call of it or around it."""
        if isinstance(self.self_attention, MultiHeadAttention):  # or a function in its place
            self.self_attention._check_inputs(call, x, **options)

    @checked_by(_check_inputs, "EncoderLayer")
    def __call__(
        self,
        x: Floats,
        *,
        mask: Bools | None = None,
        bias: Floats | None = None,
        attention_maps: AttentionMaps | None = None,
    ) -> Floats:
        """Self-attention, then feed-forward.

        Args:
            x: (B, S, d_model).
            mask: bool, broadcast to (B, H, S, S); True = may attend.
            bias: float, broadcast to (B, H, S, S); added to the scores.
            attention_maps: a dict to put "self_attention" into, (B, H, S, S).
        Returns:
            (B, S, d_model).
        """

        def attend(x: Floats) -> Floats:
            out, weights = self.self_attention(
                x, mask=mask, bias=bias, need_weights=attention_maps is not None
            )
            add_maps(attention_maps, "self_attention", weights)
            return out

        x = self.self_attention_add_norm(x, attend)  # (B, S, d_model)
        return self.feed_forward_add_norm(x, self.feed_forward)

    def backward(self, dout: Floats) -> Floats:
        """dout: (B, S, d_model) -> dx; adds to the gradients of all parameters."""
        dout = self.feed_forward_add_norm.backward(dout, self.feed_forward.backward)
        return self.self_attention_add_norm.backward(
            dout, lambda dout: self.self_attention.backward(dout)[0]
        )
