"""The Transformer of the paper: an encoder reads, a decoder writes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from qkv.config import TransformerConfig
from qkv.numpy.attention.softmax import Floats
from qkv.numpy.layer import Layer
from qkv.numpy.masks import Bools, combine_masks, padding_mask
from qkv.numpy.positional import Ints
from qkv.numpy.transformer.build import make_decoder, make_embedding, make_encoder, make_output
from qkv.numpy.transformer.caches import LayerCaches
from qkv.numpy.transformer.decoding import DecodingState
from qkv.numpy.transformer.inputs import Inputs
from qkv.numpy.transformer.weights import Weights, empty, gather
from qkv.shapes import check_source_mask, check_start, check_text

__all__ = ["Transformer"]


class Transformer(Layer):
    """From a source and the beginning of a target to scores for each next token.

    Args:
        config: sizes and choices.
        rng: draws the parameters, and what dropout keeps; None is a generator of its own.
        dtype: of the parameters, and of the result.
    Source: Vaswani et al. 2017, figure 1.
    """

    def __init__(
        self,
        config: TransformerConfig,
        *,
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        self.config = config
        own: dict[str, Any] = {"rng": rng or np.random.default_rng(), "dtype": dtype}
        self.source_embedding = make_embedding(config, config.vocab_size, **own)
        self.target_embedding = self.source_embedding
        if config.tie != "all":
            self.target_embedding = make_embedding(config, config.target_vocabulary, **own)
        self.source_inputs, self.target_inputs = Inputs(config, **own), Inputs(config, **own)
        self.encoder = make_encoder(config, **own)
        self.decoder = make_decoder(config, config.decoder_layers, **own)
        self.output = make_output(config, self.target_embedding, **own)

    def __call__(
        self,
        source: Ints,
        target: Ints,
        *,
        source_mask: Bools | None = None,
        target_mask: Bools | None = None,
        weights: Weights | None = None,
    ) -> Floats:
        """Score each next token of the target, all of them at once.

        Args:
            source: (B, S) token ids, padded at the end.
            target: (B, T) token ids, padded at the end; the first stands for the beginning.
            source_mask: bool, broadcast to (B, 1, 1, S); which tokens of the source may be attended
                to, by encoder and decoder. Those that are `pad_id` never are.
            target_mask: bool, broadcast to (B, H, T, T); besides that none looks ahead, unless the
                configuration lets it. Padding needs no mask: it comes later than all words, or is
                hidden.
            weights: a dict to put the weights of each head into, under the name of its attention,
                such as "decoder.layers.0.cross_attention": (B, H, T, S).
        Returns:
            (B, T, V) logits; those at t are about the token at t + 1.
        Raises:
            ValueError: texts or masks do not fit; an id that is no token is named with its place.
        """
        check_text("Transformer", "source", source)
        check_text("Transformer", "target", target, source.shape[0])
        mask = self.memory_mask(source, source_mask)
        memory = self.encode(source, source_mask=source_mask, weights=weights)
        return self.decode(
            target, memory, memory_mask=mask, target_mask=target_mask, weights=weights
        )

    def backward(self, dlogits: Floats) -> None:
        """dlogits: (B, T, V); adds to the gradients of all parameters."""
        self.encode_backward(self.decode_backward(dlogits))

    def memory_mask(self, source: Ints, source_mask: Bools | None = None) -> Bools | None:
        """Which tokens of the source are seen: broadcasts to (B, 1, 1, S); None means all."""
        check_source_mask("Transformer", source_mask, source)
        pad_id = self.config.pad_id
        return combine_masks(None if pad_id is None else padding_mask(source, pad_id), source_mask)

    def encode(
        self, source: Ints, *, source_mask: Bools | None = None, weights: Weights | None = None
    ) -> Floats:
        """source: (B, S) -> memory: (B, S, d_model), what the decoder attends to."""
        check_text("Transformer.encode", "source", source)
        mask, own = self.memory_mask(source, source_mask), empty(weights)
        x, bias = self.source_inputs(self.source_embedding(source))  # (B, S, d_model)
        memory = self.encoder(x, mask=mask, bias=bias, weights=own)  # (B, S, d_model)
        gather(weights, "encoder", own)
        return memory

    def encode_backward(self, dmemory: Floats) -> None:
        """dmemory: (B, S, d_model); adds to the gradients of the encoder's side."""
        dx = self.encoder.backward(dmemory)
        self.source_embedding.backward(self.source_inputs.backward(dx))

    def decode(
        self,
        target: Ints,
        memory: Floats,
        *,
        memory_mask: Bools | None = None,
        target_mask: Bools | None = None,
        weights: Weights | None = None,
        caches: Sequence[LayerCaches] | None = None,
        last: bool = False,
    ) -> Floats:
        """Score each next token of the target, after a source that has been read.

        Args:
            target: (B, T) token ids.
            memory: (B, S, d_model), what `encode` returned.
            memory_mask: what `memory_mask` returned.
            target_mask, weights: as for the whole model.
            caches: what each layer has kept of the tokens before; `start` makes them.
            last: score only what comes after the last token.
        Returns:
            (B, T, V) logits, or (B, 1, V) of the last.
        """
        check_text("Transformer.decode", "target", target)
        if not self.config.causal and self.config.pad_id is not None:
            target_mask = combine_masks(padding_mask(target, self.config.pad_id), target_mask)
        own, past = empty(weights), 0 if caches is None else caches[0].self_attention.length
        x, bias = self.target_inputs(self.target_embedding(target), past)  # (B, T, d_model)
        x = self.decoder(
            x,
            memory,
            mask=target_mask,
            memory_mask=memory_mask,
            bias=bias,
            weights=own,
            caches=caches,
        )
        gather(weights, "decoder", own)
        return self.output(x[:, -1:] if last else x)  # (B, T, V)

    def decode_backward(self, dlogits: Floats) -> Floats:
        """dlogits: (B, T, V) -> dmemory: (B, S, d_model); adds to the decoder side's gradients."""
        dx, dmemory = self.decoder.backward(self.output.backward(dlogits))
        assert dmemory is not None  # for the type checker
        self.target_embedding.backward(self.target_inputs.backward(dx))
        return dmemory

    def start(self, source: Ints, *, source_mask: Bools | None = None) -> DecodingState:
        """Read the source, and be ready to write token by token.

        Raises:
            ValueError: the model is in training mode or not causal, or source and mask do not fit.
        """
        check_start("Transformer.start", self.training, self.config.causal)
        memory = self.encode(source, source_mask=source_mask)
        mask = self.memory_mask(source, source_mask)
        return DecodingState(self.decode, len(self.decoder.layers), memory, mask)
