"""The decoder for one new token of each text, and whether it can stand for a model's own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, cast

import torch.nn.functional as F
from torch import Tensor, nn

from qkv.torch.add_norm import AddNorm, LayerNorm, RMSNorm
from qkv.torch.checks import under_autocast
from qkv.torch.dropout import Dropout
from qkv.torch.embedding import Embedding
from qkv.torch.feed_forward import FeedForward
from qkv.torch.layer import Layer
from qkv.torch.linear import Linear
from qkv.torch.multi_head import MultiHeadAttention
from qkv.torch.positional import LearnedPositions, sinusoidal_encoding
from qkv.torch.transformer.decoder import Decoder
from qkv.torch.transformer.decoder_cache import DecoderLayerCache
from qkv.torch.transformer.decoder_layer import DecoderLayer
from qkv.torch.transformer.incremental.layer import IncrementalDecoderLayer, normalize
from qkv.torch.transformer.incremental.projection import Projection
from qkv.torch.transformer.output_projection import TiedOutput, output_projection
from qkv.torch.transformer.positional_encoding import PositionalEncoding

__all__ = ["DecoderParts", "IncrementalDecoder"]

KNOWN = {AddNorm, Decoder, DecoderLayer, Dropout, Embedding, FeedForward, LayerNorm}
KNOWN |= {LearnedPositions, Linear, MultiHeadAttention, nn.ModuleList, PositionalEncoding}
KNOWN |= {RMSNorm, TiedOutput}


class DecoderParts(NamedTuple):
    """What turns the ids of new tokens into logits."""

    embedding: Embedding
    inputs: PositionalEncoding
    decoder: Decoder
    output: Linear | TiedOutput

    def are_known(self) -> bool:
        """Whether each layer computes what its class says: no other in its place, in eval mode.

        Otherwise the layers have to be called themselves, and so under autocast.
        """
        if not all(isinstance(part, Layer) for part in self):
            return False
        layers = [layer for part in self for layer in part.modules()]
        return not under_autocast(self.embedding.weight) and all(map(_is_known, layers))


def _is_known(layer: nn.Module) -> bool:
    """Whether it is of a known class, with no hook and no function in the place of a method."""
    replaced = any(callable(x) and not isinstance(x, Layer) for x in vars(layer).values())
    hooked = layer._forward_hooks or layer._forward_pre_hooks
    return type(layer) in KNOWN and not (layer.training or replaced or hooked)


class IncrementalDecoder:
    """Decoder for one new token of each text; it serves one search.

    Args:
        parts: of a model in eval mode; a change of its weights after this is not seen.
        rows: the number of texts.
    """

    def __init__(self, parts: DecoderParts, rows: int) -> None:
        self.parts = parts
        output = output_projection(parts.output)
        one_row = rows == 1 and output.weight.device.type == "cpu"
        layers = cast(list[DecoderLayer], list(parts.decoder.layers))
        self.layers = [IncrementalDecoderLayer(layer, one_row) for layer in layers]
        self.output = Projection.from_parameters(output.weight, output.bias, one_row=one_row)
        self.waves = output.weight.new_empty(0, output.weight.shape[1])  # (positions, d_model)

    def __call__(
        self, ids: Tensor, caches: Sequence[DecoderLayerCache], memory_bias: Tensor | None
    ) -> Tensor:
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

    def _inputs(self, ids: Tensor, position: int) -> tuple[Tensor, Tensor | None]:
        """Embedding and position of the tokens, (N, d_model); a bias (1, H, 1, S) or None."""
        x = self._embedded(ids)  # (N, 1, d_model)
        config = self.parts.inputs.config
        if config.positions != "sinusoidal":
            x, bias = self.parts.inputs(x, position)
            return x[:, 0], bias
        if position >= len(self.waves):
            self.waves = sinusoidal_encoding(
                max(32, 2 * position),
                config.d_model,
                layout=config.layout,
                dtype=x.dtype,
                device=x.device,
            )
        return x[:, 0] + self.waves[position], None

    def _embedded(self, ids: Tensor) -> Tensor:
        """Embedding lookup; the layer is asked where an id has to be refused before a GPU fails."""
        embedding = self.parts.embedding
        if ids.device.type == "cpu":
            with suppress(IndexError):
                return F.embedding(ids.long(), embedding.weight) * embedding.scale
        x: Tensor = embedding(ids)
        return x
