"""The decoder for one new token of each text, and whether it can stand for a model's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from qkv.numpy.add_norm import AddNorm, LayerNorm, RMSNorm
from qkv.numpy.array_types import Floats, Ints
from qkv.numpy.dropout import Dropout
from qkv.numpy.embedding import Embedding
from qkv.numpy.feed_forward import FeedForward
from qkv.numpy.half_precision import is_half
from qkv.numpy.layer import Layer
from qkv.numpy.linear import Linear
from qkv.numpy.multi_head import MultiHeadAttention
from qkv.numpy.positional import LearnedPositions, sinusoidal_encoding
from qkv.numpy.transformer.decoder import Decoder
from qkv.numpy.transformer.decoder_cache import DecoderLayerCache
from qkv.numpy.transformer.decoder_layer import DecoderLayer
from qkv.numpy.transformer.incremental.layer import IncrementalDecoderLayer, normalize
from qkv.numpy.transformer.incremental.projection import Projection
from qkv.numpy.transformer.output_projection import TiedOutput, output_projection
from qkv.numpy.transformer.positional_encoding import PositionalEncoding

__all__ = ["DecoderParts", "IncrementalDecoder"]

KNOWN = {AddNorm, Decoder, DecoderLayer, Dropout, Embedding, FeedForward, LayerNorm}
KNOWN |= {LearnedPositions, Linear, MultiHeadAttention, PositionalEncoding, RMSNorm, TiedOutput}


class DecoderParts(NamedTuple):
    """What turns the ids of new tokens into logits."""

    embedding: Embedding
    inputs: PositionalEncoding
    decoder: Decoder
    output: Linear | TiedOutput

    def are_known(self) -> bool:
        """Whether each layer computes what its class says: no other in its place, in eval mode.

        Otherwise the layers have to be called themselves, and so in half precision.
        """
        if not all(isinstance(part, Layer) for part in self):
            return False
        layers = [layer for part in self for _, layer in part.named_modules()]
        return all(_is_known(layer) for layer in layers)


def _is_known(layer: Layer) -> bool:
    """Whether it is of a known class, with no function in the place of a layer below it."""
    replaced = any(callable(x) and not isinstance(x, Layer) for x in vars(layer).values())
    half = any(is_half(parameter) for parameter in layer.params.values())
    return type(layer) in KNOWN and not (layer.training or replaced or half)


class IncrementalDecoder:
    """Decoder for one new token of each text; it serves one search.

    Args:
        parts: of a model in eval mode; a change of its weights after this may not be seen.
    """

    def __init__(self, parts: DecoderParts) -> None:
        self.parts = parts
        output = output_projection(parts.output)
        self.layers = [IncrementalDecoderLayer(layer) for layer in parts.decoder.layers]
        self.output = Projection(output.weight, output.bias)
        self.waves: Floats = output.weight[:, :0].T  # (positions, d_model), none as yet

    def __call__(
        self, ids: Ints, caches: Sequence[DecoderLayerCache], memory_bias: Floats | None
    ) -> Floats:
        """Logits of the token after these.

        Args:
            ids: (N, 1).
            caches: of each layer, which keys and values are added to.
            memory_bias: (A, 1, 1, S), added to the scores of cross-attention, where each memory
                serves N / A rows; None where every token of it may be attended to.
        Returns:
            (N, V) logits.
        """
        x, bias = self._inputs(ids, caches[0].self_attention.length)  # (N, d_model)
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, cache, bias, memory_bias)
        norm = self.parts.decoder.norm
        return self.output(x if norm is None else normalize(norm, x))

    def _inputs(self, ids: Ints, position: int) -> tuple[Floats, Floats | None]:
        """Embedding and position of the tokens, (N, d_model); a bias (1, H, 1, S) or None."""
        x = self.parts.embedding(ids)  # (N, 1, d_model)
        config = self.parts.inputs.config
        if config.positions != "sinusoidal":
            x, bias = self.parts.inputs(x, position)
            return x[:, 0], bias
        if position >= len(self.waves):
            self.waves = sinusoidal_encoding(
                max(32, 2 * position), config.d_model, layout=config.layout, dtype=x.dtype
            )
        return x[:, 0] + self.waves[position], None
