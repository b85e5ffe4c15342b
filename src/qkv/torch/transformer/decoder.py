"""Decoder: a stack of decoder layers."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from qkv.shapes.transformer import check_layers
from qkv.torch.add_norm import LayerNorm, RMSNorm
from qkv.torch.checks import checked_by
from qkv.torch.layer import Layer
from qkv.torch.transformer.attention_maps import AttentionMaps, add_maps, empty_maps
from qkv.torch.transformer.decoder_cache import DecoderLayerCache
from qkv.torch.transformer.decoder_layer import DecoderLayer

__all__ = ["Decoder"]


class Decoder(Layer):
    """Decoder: a stack of layers and, in pre-norm models, a final norm.

    As `qkv.numpy.Decoder`.
    """

    def __init__(
        self, layers: Sequence[DecoderLayer], norm: LayerNorm | RMSNorm | None = None
    ) -> None:
        super().__init__()
        check_layers("Decoder", layers, DecoderLayer)
        self.layers = nn.ModuleList(layers)
        self.norm = norm

    def _check_inputs(
        self,
        call: str,
        x: Tensor,
        memory: Tensor | None = None,
        *,
        caches: Sequence[DecoderLayerCache] | None = None,
        attention_maps: AttentionMaps | None = None,
        **options: Any,
    ) -> None:
        """Refuse what the layers cannot use, in the name of a call of this or around it."""
        layers: Any = self.layers
        if caches is None:  # what fits one fits all
            layers[0]._check_inputs(call, x, memory, **options)
            return
        for layer, cache in zip(layers, caches, strict=True):
            layer._check_inputs(call, x, memory, cache=cache, **options)

    @checked_by(_check_inputs, "Decoder")
    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        bias: Tensor | None = None,
        attention_maps: AttentionMaps | None = None,
        caches: Sequence[DecoderLayerCache] | None = None,
    ) -> Tensor:
        """x: (B, T, d_model), memory: (B, S, d_model) or None -> shaped like x.

        As `qkv.numpy.Decoder.__call__`.
        """
        for i, layer in enumerate(self.layers):
            layer_maps = empty_maps(attention_maps)
            x = layer(
                x,
                memory,
                mask=mask,
                memory_mask=memory_mask,
                bias=bias,
                attention_maps=layer_maps,
                cache=None if caches is None else caches[i],
            )
            add_maps(attention_maps, f"layers.{i}", layer_maps)
        return x if self.norm is None else self.norm(x)
