"""The decoder: N layers, one after the other."""

from collections.abc import Sequence

from torch import Tensor, nn

from qkv.shapes import check_stack
from qkv.torch.add_norm import LayerNorm, RMSNorm
from qkv.torch.layer import Layer
from qkv.torch.transformer.caches import LayerCaches
from qkv.torch.transformer.decoder_layer import DecoderLayer
from qkv.torch.transformer.weights import Weights, empty, gather

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
        self.layers = nn.ModuleList(layers)
        self.norm = norm

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        bias: Tensor | None = None,
        weights: Weights | None = None,
        caches: Sequence[LayerCaches] | None = None,
    ) -> Tensor:
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
