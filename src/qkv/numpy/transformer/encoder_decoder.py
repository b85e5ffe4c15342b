"""Encoder-decoder Transformer, as in the paper."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from qkv.config import TransformerConfig
from qkv.numpy.array_types import Bools, Floats, Ints
from qkv.numpy.checks import check_shapes, checked_by
from qkv.numpy.layer import Layer
from qkv.numpy.masks import combine_masks_formula, padding_mask_formula
from qkv.numpy.transformer.attention_maps import AttentionMaps, add_maps, empty_maps
from qkv.numpy.transformer.build_from_config import (
    make_decoder,
    make_embedding,
    make_encoder,
    make_output,
)
from qkv.numpy.transformer.check_tokens import check_stack, check_tokens
from qkv.numpy.transformer.decoder_cache import DecoderLayerCache
from qkv.numpy.transformer.decoding_state import DecoderParts, DecodingState
from qkv.numpy.transformer.output_projection import OutputProjection, output_projection
from qkv.numpy.transformer.positional_encoding import PositionalEncoding
from qkv.shapes.encoder_decoder import EncoderDecoderChecks

__all__ = ["Transformer"]

CHECKS = EncoderDecoderChecks(check_shapes, check_tokens, check_stack)


class Transformer(Layer):
    """Encoder-decoder Transformer: from source and target to logits of each next target token.

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
        factory_kwargs: dict[str, Any] = {"rng": rng or np.random.default_rng(), "dtype": dtype}
        self.source_embedding = make_embedding(config, config.vocab_size, **factory_kwargs)
        self.target_embedding = self.source_embedding
        if config.tie_word_embeddings != "all":
            self.target_embedding = make_embedding(
                config, config.target_vocabulary, **factory_kwargs
            )
        self.source_inputs, self.target_inputs = (
            PositionalEncoding(config, **factory_kwargs),
            PositionalEncoding(config, **factory_kwargs),
        )
        self.encoder = make_encoder(config, **factory_kwargs)
        self.decoder = make_decoder(config, config.decoder_layers, **factory_kwargs)
        self.output = make_output(config, self.target_embedding, **factory_kwargs)

    @checked_by(CHECKS.texts)
    def __call__(
        self,
        source: Ints,
        target: Ints,
        *,
        source_mask: Bools | None = None,
        target_mask: Bools | None = None,
        attention_maps: AttentionMaps | None = None,
    ) -> Floats:
        """Logits of each next token of the target, all of them at once.

        Args:
            source: (B, S) token ids, padded at the end.
            target: (B, T) token ids, padded at the end; the first stands for the beginning.
            source_mask: bool, broadcast to (B, 1, 1, S); which tokens of the source may be attended
                to, by encoder and decoder. Those that are `pad_id` never are.
            target_mask: bool, broadcast to (B, H, T, T); besides that none looks ahead, unless the
                configuration lets it. Padding needs no mask: it comes later than all words, or is
                hidden.
            attention_maps: a dict to put the weights of each head into, under the name of its
                attention, such as "decoder.layers.0.cross_attention": (B, H, T, S).
        Returns:
            (B, T, V) logits; those at t are about the token at t + 1.
        Raises:
            ValueError: texts or masks do not fit; an id that is no token is named with its place.
        """
        x = self.hidden_states(
            source,
            target,
            source_mask=source_mask,
            target_mask=target_mask,
            attention_maps=attention_maps,
        )  # (B, T, d_model)
        return self.output(x)  # (B, T, V)

    def backward(self, dlogits: Floats) -> None:
        """dlogits: (B, T, V); adds to the gradients of all parameters."""
        self.hidden_states_backward(self.output.backward(dlogits))

    @checked_by(CHECKS.texts)
    def hidden_states(
        self,
        source: Ints,
        target: Ints,
        *,
        source_mask: Bools | None = None,
        target_mask: Bools | None = None,
        attention_maps: AttentionMaps | None = None,
    ) -> Floats:
        """The decoder's last hidden states (B, T, d_model), which `output` makes logits of.

        Args:
            source, target, source_mask, target_mask, attention_maps: as for the whole model.
        Raises:
            ValueError: texts or masks do not fit; an id that is no token is named with its place.
        """
        mask = self._memory_mask(source, source_mask)
        memory = self._encoded(source, mask, attention_maps)
        return self._decoded(target, memory, mask, target_mask, attention_maps)

    def hidden_states_backward(self, dout: Floats) -> None:
        """dout: (B, T, d_model); adds to the gradients of all parameters but the output's."""
        self.encode_backward(self._decoded_backward(dout))

    def output_projection(self) -> OutputProjection:
        """Weight (d_model, V) and bias (V,) that make logits of hidden states: x weight + bias."""
        return output_projection(self.output)

    @checked_by(CHECKS.source)
    def memory_mask(self, source: Ints, source_mask: Bools | None = None) -> Bools | None:
        """Which source tokens may be attended to: broadcasts to (B, 1, 1, S); None means all."""
        return self._memory_mask(source, source_mask)

    def _memory_mask(self, source: Ints, source_mask: Bools | None) -> Bools | None:
        pad_id = self.config.pad_id
        not_padding = None if pad_id is None else padding_mask_formula(source, pad_id)
        return combine_masks_formula(not_padding, source_mask)

    @checked_by(CHECKS.encode)
    def encode(
        self,
        source: Ints,
        *,
        source_mask: Bools | None = None,
        attention_maps: AttentionMaps | None = None,
    ) -> Floats:
        """Encoder pass: source (B, S) -> memory (B, S, d_model), what the decoder attends to."""
        return self._encoded(source, self._memory_mask(source, source_mask), attention_maps)

    def _encoded(
        self, source: Ints, mask: Bools | None, attention_maps: AttentionMaps | None = None
    ) -> Floats:
        part_maps = empty_maps(attention_maps)
        x, bias = self.source_inputs(self.source_embedding(source))  # (B, S, d_model)
        memory = self.encoder(x, mask=mask, bias=bias, attention_maps=part_maps)  # (B, S, d_model)
        add_maps(attention_maps, "encoder", part_maps)
        return memory

    def encode_backward(self, dmemory: Floats) -> None:
        """dmemory: (B, S, d_model); adds to the gradients of the encoder's side."""
        dx = self.encoder.backward(dmemory)
        self.source_embedding.backward(self.source_inputs.backward(dx))

    @checked_by(CHECKS.decode)
    def decode(
        self,
        target: Ints,
        memory: Floats,
        *,
        memory_mask: Bools | None = None,
        target_mask: Bools | None = None,
        attention_maps: AttentionMaps | None = None,
        caches: Sequence[DecoderLayerCache] | None = None,
        last: bool = False,
    ) -> Floats:
        """Decoder pass: logits of each next token of the target, from a memory that is given.

        Args:
            target: (B, T) token ids.
            memory: (B, S, d_model), what `encode` returned.
            memory_mask: what `memory_mask` returned.
            target_mask, attention_maps: as for the whole model.
            caches: what each layer has kept of the tokens before; `start_decoding` makes them.
            last: score only what comes after the last token.
        Returns:
            (B, T, V) logits, or (B, 1, V) of the last.
        """
        x = self._decoded(target, memory, memory_mask, target_mask, attention_maps, caches)
        return self.output(x[:, -1:] if last else x)  # (B, T, V)

    def _decoded(
        self,
        target: Ints,
        memory: Floats,
        memory_mask: Bools | None = None,
        target_mask: Bools | None = None,
        attention_maps: AttentionMaps | None = None,
        caches: Sequence[DecoderLayerCache] | None = None,
    ) -> Floats:
        """The decoder's last hidden states (B, T, d_model), after a source that has been read."""
        if not self.config.causal and self.config.pad_id is not None:
            not_padding = padding_mask_formula(target, self.config.pad_id)
            target_mask = combine_masks_formula(not_padding, target_mask)
        part_maps = empty_maps(attention_maps)
        cached = 0 if caches is None else caches[0].self_attention.length
        x, bias = self.target_inputs(self.target_embedding(target), cached)  # (B, T, d_model)
        x = self.decoder(
            x,
            memory,
            mask=target_mask,
            memory_mask=memory_mask,
            bias=bias,
            attention_maps=part_maps,
            caches=caches,
        )
        add_maps(attention_maps, "decoder", part_maps)
        return x

    def decode_backward(self, dlogits: Floats) -> Floats:
        """dlogits: (B, T, V) -> dmemory: (B, S, d_model); adds to the decoder side's gradients."""
        return self._decoded_backward(self.output.backward(dlogits))

    def _decoded_backward(self, dout: Floats) -> Floats:
        """dout: (B, T, d_model) -> dmemory: (B, S, d_model)."""
        dx, dmemory = self.decoder.backward(dout)
        assert dmemory is not None  # for the type checker
        self.target_embedding.backward(self.target_inputs.backward(dx))
        return dmemory

    @checked_by(CHECKS.start_decoding)
    def start_decoding(self, source: Ints, *, source_mask: Bools | None = None) -> DecodingState:
        """Start decoding: encode the source, and give a state that writes token by token.

        Raises:
            ValueError: the model is in training mode or not causal, or source and mask do not fit.
        """
        mask = self._memory_mask(source, source_mask)
        memory = self._encoded(source, mask)
        parts = DecoderParts(self.target_embedding, self.target_inputs, self.decoder, self.output)
        return DecodingState(self._decoded, parts, memory, mask)
