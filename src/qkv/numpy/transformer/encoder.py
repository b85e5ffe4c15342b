"""The encoder: N layers, one after the other."""

from collections.abc import Sequence

from qkv.numpy.add_norm import LayerNorm, RMSNorm
from qkv.numpy.attention.softmax import Floats
from qkv.numpy.layer import Layer
from qkv.numpy.masks import Bools
from qkv.numpy.transformer.encoder_layer import EncoderLayer
from qkv.numpy.transformer.weights import Weights, empty, gather
from qkv.shapes import check_stack

__all__ = ["Encoder"]


class Encoder(Layer):
    """A stack of layers and, where each ends in a sum, one more norm.

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
        check_stack("Encoder", layers, EncoderLayer)
        self.layers = list(layers)
        self.norm = norm

    def __call__(
        self,
        x: Floats,
        *,
        mask: Bools | None = None,
        bias: Floats | None = None,
        weights: Weights | None = None,
    ) -> Floats:
        """x: (B, S, d_model) -> the same shape.

        Each layer takes mask and bias, and puts its weights under a name of its own, such as
        "layers.0.self_attention".
        """
        for i, layer in enumerate(self.layers):
            own = empty(weights)
            x = layer(x, mask=mask, bias=bias, weights=own)
            gather(weights, f"layers.{i}", own)
        return x if self.norm is None else self.norm(x)

    def backward(self, dout: Floats) -> Floats:
        """dout: (B, S, d_model) -> dx; adds to the gradients of all parameters."""
        if self.norm is not None:
            dout = self.norm.backward(dout)
        for layer in reversed(self.layers):
            dout = layer.backward(dout)
        return dout
