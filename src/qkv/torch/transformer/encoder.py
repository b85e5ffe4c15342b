"""The encoder: N layers, one after the other."""

from collections.abc import Sequence

from torch import Tensor, nn

from qkv.shapes import check_stack
from qkv.torch.add_norm import LayerNorm, RMSNorm
from qkv.torch.layer import Layer
from qkv.torch.transformer.encoder_layer import EncoderLayer
from qkv.torch.transformer.weights import Weights, empty, gather

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
        self.layers = nn.ModuleList(layers)
        self.norm = norm

    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        weights: Weights | None = None,
    ) -> Tensor:
        """x: (B, S, d_model) -> the same shape.

        Each layer takes mask and bias, and puts its weights under a name of its own, such as
        "layers.0.self_attention".
        """
        for i, layer in enumerate(self.layers):
            own = empty(weights)
            x = layer(x, mask=mask, bias=bias, weights=own)
            gather(weights, f"layers.{i}", own)
        return x if self.norm is None else self.norm(x)
