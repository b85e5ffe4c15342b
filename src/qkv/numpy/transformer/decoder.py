"""The decoder: N layers, one after the other."""

from collections.abc import Sequence

from qkv.numpy.add_norm import LayerNorm, RMSNorm
from qkv.numpy.attention.softmax import Floats
from qkv.numpy.layer import Layer
from qkv.numpy.masks import Bools
from qkv.numpy.transformer.caches import LayerCaches
from qkv.numpy.transformer.decoder_layer import DecoderLayer
from qkv.numpy.transformer.weights import Weights, empty, gather
from qkv.shapes import check_stack

__all__ = ["Decoder"]


class Decoder(Layer):
    """A stack of layers and, where each ends in a sum, one more norm.

    Args:
        layers: from the first to the last.
        norm: of what the last one gives; None leaves that as it is, as in the paper.
    Raises:
        ValueError: there is no layer, or something that is none.
    """

    def __init__(
        self, layers: Sequence[DecoderLayer], norm: LayerNorm | RMSNorm | None = None
    ) -> None:
        super().__init__()
        check_stack("Decoder", layers, DecoderLayer)
        self.layers = list(layers)
        self.norm = norm

    def __call__(
        self,
        x: Floats,
        memory: Floats | None = None,
        *,
        mask: Bools | None = None,
        memory_mask: Bools | None = None,
        bias: Floats | None = None,
        weights: Weights | None = None,
        caches: Sequence[LayerCaches] | None = None,
    ) -> Floats:
        """x: (B, T, d_model), memory: (B, S, d_model) or None -> shaped like x.

        Each layer takes the masks and the bias, and puts its weights under a name of its own, such
        as "layers.0.cross_attention"; `caches` holds those of each.
        """
        for i, layer in enumerate(self.layers):
            own = empty(weights)
            x = layer(
                x,
                memory,
                mask=mask,
                memory_mask=memory_mask,
                bias=bias,
                weights=own,
                caches=None if caches is None else caches[i],
            )
            gather(weights, f"layers.{i}", own)
        return x if self.norm is None else self.norm(x)

    def backward(self, dout: Floats) -> tuple[Floats, Floats | None]:
        """dout: (B, T, d_model) -> dx, and dmemory or None; adds to all parameters' gradients."""
        if self.norm is not None:
            dout = self.norm.backward(dout)
        dmemory = None
        for layer in reversed(self.layers):
            dout, of_layer = layer.backward(dout)
            if dmemory is None:
                dmemory = of_layer
            elif of_layer is not None:
                dmemory += of_layer
        return dout, dmemory
