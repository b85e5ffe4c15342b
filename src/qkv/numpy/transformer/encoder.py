"""Encoder: a stack of encoder layers."""

from collections.abc import Sequence
from typing import Any

from qkv.numpy.add_norm import LayerNorm, RMSNorm
from qkv.numpy.array_types import Bools, Floats
from qkv.numpy.checks import checked_by
from qkv.numpy.layer import Layer
from qkv.numpy.transformer.attention_maps import AttentionMaps, add_maps, empty_maps
from qkv.numpy.transformer.encoder_layer import EncoderLayer
from qkv.shapes.transformer import check_layers

__all__ = ["Encoder"]


class Encoder(Layer):
    """Encoder: a stack of layers and, in pre-norm models, a final norm.

    Args:
        layers: from the first to the last.
        norm: of what the last one gives; None leaves that as it is, as in the paper.
    Raises:
        ValueError: there is no layer, or something that is none.
    """

    def __init__(
        self, layers: Sequence[EncoderLayer], norm: LayerNorm | RMSNorm | None = None
    ) -> None:
        super().__init__()
        check_layers("Encoder", layers, EncoderLayer)
        self.layers = list(layers)
        self.norm = norm

    def _check_inputs(
        self,
        call: str,
        x: Floats,
        *,
        attention_maps: AttentionMaps | None = None,
        **options: Any,
    ) -> None:
        """Refuse what the layers cannot use, in the name of a call of this or around it."""
        for layer in self.layers[:1]:  # what fits one fits all
            layer._check_inputs(call, x, **options)

    @checked_by(_check_inputs, "Encoder")
    def __call__(
        self,
        x: Floats,
        *,
        mask: Bools | None = None,
        bias: Floats | None = None,
        attention_maps: AttentionMaps | None = None,
    ) -> Floats:
        """x: (B, S, d_model) -> the same shape.

        Each layer takes mask and bias, and adds its attention map under a name of its own, such as
        "layers.0.self_attention".
        """
        for i, layer in enumerate(self.layers):
            layer_maps = empty_maps(attention_maps)
            x = layer(x, mask=mask, bias=bias, attention_maps=layer_maps)
            add_maps(attention_maps, f"layers.{i}", layer_maps)
        return x if self.norm is None else self.norm(x)

    def backward(self, dout: Floats) -> Floats:
        """dout: (B, S, d_model) -> dx; adds to the gradients of all parameters."""
        if self.norm is not None:
            dout = self.norm.backward(dout)
        for layer in reversed(self.layers):
            dout = layer.backward(dout)
        return dout
