"""Encoder-decoder Transformer, as in the paper."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from qkv.config import TransformerConfig
from qkv.shapes.encoder_decoder import EncoderDecoderChecks
from qkv.torch.checks import check_shapes, checked_by
from qkv.torch.layer import Layer
from qkv.torch.masks import combine_masks_formula, padding_mask_formula
from qkv.torch.transformer.attention_maps import AttentionMaps, add_maps, empty_maps
from qkv.torch.transformer.build_from_config import (
    make_decoder,
    make_embedding,
    make_encoder,
    make_output,
)
from qkv.torch.transformer.check_tokens import check_stack, check_tokens
from qkv.torch.transformer.decoder_cache import DecoderLayerCache
from qkv.torch.transformer.decoding_state import DecoderParts, DecodingState
from qkv.torch.transformer.output_projection import OutputProjection, output_projection
from qkv.torch.transformer.positional_encoding import PositionalEncoding

__all__ = ["Transformer"]

CHECKS = EncoderDecoderChecks(check_shapes, check_tokens, check_stack)


class Transformer(Layer):
    """Encoder-decoder Transformer: from source and target to logits of each next target token.

    As `qkv.numpy.Transformer`, with:
        rng: draws the parameters, and what dropout keeps; None is torch's own generator.
        dtype, device: of the parameters, and of the result.
    """

    def __init__(
        self,
        config: TransformerConfig,
        *,
        rng: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        factory_kwargs: dict[str, Any] = {"rng": rng, "dtype": dtype, "device": device}
        self.source_embedding = make_embedding(config, config.vocab_size, **factory_kwargs)
        if config.tie_word_embeddings == "all":
            # As an attribute it would stand in the state twice.
            self.__dict__["target_embedding"] = self.source_embedding
        else:
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
    def forward(
        self,
        source: Tensor,
        target: Tensor,
        *,
        source_mask: Tensor | None = None,
        target_mask: Tensor | None = None,
        attention_maps: AttentionMaps | None = None,
    ) -> Tensor:
        """Logits of each next token of the target, all of them at once.

        As `qkv.numpy.Transformer.__call__`.
        """
        x = self.hidden_states(
            source,
            target,
            source_mask=source_mask,
            target_mask=target_mask,
            attention_maps=attention_maps,
        )  # (B, T, d_model)
        logits: Tensor = self.output(x)  # (B, T, V)
        return logits

    @checked_by(CHECKS.texts)
    def hidden_states(
        self,
        source: Tensor,
        target: Tensor,
        *,
        source_mask: Tensor | None = None,
        target_mask: Tensor | None = None,
        attention_maps: AttentionMaps | None = None,
    ) -> Tensor:
        """The decoder's last hidden states (B, T, d_model), which `output` makes logits of.

        As `qkv.numpy.Transformer.hidden_states`.
        """
        mask = self._memory_mask(source, source_mask)
        memory = self._encoded(source, mask, attention_maps)
        return self._decoded(target, memory, mask, target_mask, attention_maps)

    def output_projection(self) -> OutputProjection:
        """Weight (V, d_model) and bias (V,) that make logits of hidden states: x weightᵀ + bias."""
        return output_projection(self.output)

    @checked_by(CHECKS.source)
    def memory_mask(self, source: Tensor, source_mask: Tensor | None = None) -> Tensor | None:
        """Which source tokens may be attended to: broadcasts to (B, 1, 1, S); None means all."""
        return self._memory_mask(source, source_mask)

    def _memory_mask(self, source: Tensor, source_mask: Tensor | None) -> Tensor | None:
        pad_id = self.config.pad_id
        not_padding = None if pad_id is None else padding_mask_formula(source, pad_id)
        return combine_masks_formula(not_padding, source_mask)

    @checked_by(CHECKS.encode)
    def encode(
        self,
        source: Tensor,
        *,
        source_mask: Tensor | None = None,
        attention_maps: AttentionMaps | None = None,
    ) -> Tensor:
        """Encoder pass: source (B, S) -> memory (B, S, d_model), what the decoder attends to."""
        return self._encoded(source, self._memory_mask(source, source_mask), attention_maps)

    def _encoded(
        self, source: Tensor, mask: Tensor | None, attention_maps: AttentionMaps | None = None
    ) -> Tensor:
        part_maps = empty_maps(attention_maps)
        x, bias = self.source_inputs(self.source_embedding(source))  # (B, S, d_model)
        memory: Tensor = self.encoder(
            x, mask=mask, bias=bias, attention_maps=part_maps
        )  # (B, S, d_model)
        add_maps(attention_maps, "encoder", part_maps)
        return memory

    @checked_by(CHECKS.decode)
    def decode(
        self,
        target: Tensor,
        memory: Tensor,
        *,
        memory_mask: Tensor | None = None,
        target_mask: Tensor | None = None,
        attention_maps: AttentionMaps | None = None,
        caches: Sequence[DecoderLayerCache] | None = None,
        last: bool = False,
    ) -> Tensor:
        """Decoder pass: logits of each next token of the target, from a memory that is given.

        As `qkv.numpy.Transformer.decode`.
        """
        x = self._decoded(target, memory, memory_mask, target_mask, attention_maps, caches)
        logits: Tensor = self.output(x[:, -1:] if last else x)  # (B, T, V)
        return logits

    def _decoded(
        self,
        target: Tensor,
        memory: Tensor,
        memory_mask: Tensor | None = None,
        target_mask: Tensor | None = None,
        attention_maps: AttentionMaps | None = None,
        caches: Sequence[DecoderLayerCache] | None = None,
    ) -> Tensor:
        """The decoder's last hidden states (B, T, d_model), after a source that has been read."""
        if not self.config.causal and self.config.pad_id is not None:
            not_padding = padding_mask_formula(target, self.config.pad_id)
            target_mask = combine_masks_formula(not_padding, target_mask)
        part_maps = empty_maps(attention_maps)
        cached = 0 if caches is None else caches[0].self_attention.length
        x, bias = self.target_inputs(self.target_embedding(target), cached)  # (B, T, d_model)
        out: Tensor = self.decoder(
            x,
            memory,
            mask=target_mask,
            memory_mask=memory_mask,
            bias=bias,
            attention_maps=part_maps,
            caches=caches,
        )
        add_maps(attention_maps, "decoder", part_maps)
        return out

    @torch.no_grad()
    @checked_by(CHECKS.start_decoding)
    def start_decoding(self, source: Tensor, *, source_mask: Tensor | None = None) -> DecodingState:
        """Start decoding: encode the source, and give a state that writes token by token.

        As `qkv.numpy.Transformer.start_decoding`.
        """
        mask = self._memory_mask(source, source_mask)
        memory = self._encoded(source, mask)
        parts = DecoderParts(self.target_embedding, self.target_inputs, self.decoder, self.output)
        return DecodingState(self._decoded, parts, memory, mask)
