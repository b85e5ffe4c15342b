"""Encoder: a stack of encoder layers."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from qkv.shapes.transformer import check_layers
from qkv.torch.add_norm import LayerNorm, RMSNorm
from qkv.torch.checks import checked_by
from qkv.torch.layer import Layer
from qkv.torch.transformer.attention_maps import AttentionMaps, add_maps, empty_maps
from qkv.torch.transformer.encoder_layer import EncoderLayer

__all__ = ["Encoder"]


class Encoder(Layer):
    """Encoder: a stack of layers and, in pre-norm models, a final norm.

    As `qkv.numpy.Encoder`.
    """

    def __init__(
        self, layers: Sequence[EncoderLayer], norm: LayerNorm | RMSNorm | None = None
    ) -> None:
        super().__init__()
        check_layers("Encoder", layers, EncoderLayer)
        self.layers = nn.ModuleList(layers)
        self.norm = norm

    def _check_inputs(
        self,
        call: str,
        x: Tensor,
        *,
        attention_maps: AttentionMaps | None = None,
        **options: Any,
    ) -> None:
        """Refuse what the layers cannot use, in the name of a call of this or around it."""
        first: Any = self.layers[0]  # what fits one fits all
        first._check_inputs(call, x, **options)

    @checked_by(_check_inputs, "Encoder")
    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        attention_maps: AttentionMaps | None = None,
    ) -> Tensor:
        """x: (B, S, d_model) -> the same shape.

        As `qkv.numpy.Encoder.__call__`.
        """
        for i, layer in enumerate(self.layers):
            layer_maps = empty_maps(attention_maps)
            x = layer(x, mask=mask, bias=bias, attention_maps=layer_maps)
            add_maps(attention_maps, f"layers.{i}", layer_maps)
        return x if self.norm is None else self.norm(x)
