"""Decoder-only Transformer: a language model of one text, as GPT is."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from qkv.config import TransformerConfig
from qkv.shapes.transformer import check_decoding_mode, check_single_text_config
from qkv.torch.checks import check_shapes, checked_by
from qkv.torch.layer import Layer
from qkv.torch.masks import combine_masks_formula, padding_mask_formula
from qkv.torch.transformer.attention_maps import AttentionMaps, add_maps, empty_maps
from qkv.torch.transformer.build_from_config import make_decoder, make_embedding, make_output
from qkv.torch.transformer.check_tokens import check_stack, check_tokens
from qkv.torch.transformer.decoder_cache import DecoderLayerCache
from qkv.torch.transformer.decoding_state import DecoderParts, DecodingState
from qkv.torch.transformer.output_projection import OutputProjection, output_projection
from qkv.torch.transformer.positional_encoding import PositionalEncoding

__all__ = ["DecoderOnly"]


class DecoderOnly(Layer):
    """Decoder-only Transformer: from a text to logits of each next token, as in GPT.

    As `qkv.numpy.DecoderOnly`, with:
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
        check_single_text_config("DecoderOnly", config)
        self.config = config
        factory_kwargs: dict[str, Any] = {"rng": rng, "dtype": dtype, "device": device}
        self.embedding = make_embedding(config, config.vocab_size, **factory_kwargs)
        self.inputs = PositionalEncoding(config, **factory_kwargs)
        self.decoder = make_decoder(config, config.n_layers, False, **factory_kwargs)
        self.output = make_output(config, self.embedding, **factory_kwargs)

    def _check(
        self,
        ids: Tensor,
        *,
        mask: Tensor | None = None,
        caches: Sequence[DecoderLayerCache] | None = None,
        attention_maps: AttentionMaps | None = None,
        last: bool = False,
    ) -> None:
        check_shapes("DecoderOnly", ids=(ids, "int B+ T+"))
        cached = 0 if caches is None else caches[0].self_attention.length
        check_tokens("DecoderOnly", "ids", ids, self.embedding, self.inputs, cached)
        if mask is not None or caches is not None:
            options: dict[str, Any] = {"mask": mask, "caches": caches}
            check_stack("DecoderOnly", self.decoder, ids, self.embedding, **options)

    @checked_by(_check)
    def forward(
        self,
        ids: Tensor,
        *,
        mask: Tensor | None = None,
        attention_maps: AttentionMaps | None = None,
        caches: Sequence[DecoderLayerCache] | None = None,
        last: bool = False,
    ) -> Tensor:
        """Logits of each next token, all of them at once.

        As `qkv.numpy.DecoderOnly.__call__`.
        """
        x = self.hidden_states(
            ids, mask=mask, attention_maps=attention_maps, caches=caches
        )  # (B, T, d_model)
        logits: Tensor = self.output(x[:, -1:] if last else x)  # (B, T, V)
        return logits

    @checked_by(_check)
    def hidden_states(
        self,
        ids: Tensor,
        *,
        mask: Tensor | None = None,
        attention_maps: AttentionMaps | None = None,
        caches: Sequence[DecoderLayerCache] | None = None,
    ) -> Tensor:
        """The last hidden states (B, T, d_model), which `output` makes logits of.

        As `qkv.numpy.DecoderOnly.hidden_states`.
        """
        if not self.config.causal and self.config.pad_id is not None:
            not_padding = padding_mask_formula(ids, self.config.pad_id)
            mask = combine_masks_formula(not_padding, mask)
        part_maps = empty_maps(attention_maps)
        cached = 0 if caches is None else caches[0].self_attention.length
        x, bias = self.inputs(self.embedding(ids), cached)  # (B, T, d_model)
        out: Tensor = self.decoder(x, mask=mask, bias=bias, attention_maps=part_maps, caches=caches)
        add_maps(attention_maps, "decoder", part_maps)
        return out

    def output_projection(self) -> OutputProjection:
        """Weight (V, d_model) and bias (V,) that make logits of hidden states: x weightᵀ + bias."""
        return output_projection(self.output)

    def start_decoding(self) -> DecodingState:
        """Start decoding: a state that writes token by token, with empty caches.

        As `qkv.numpy.DecoderOnly.start_decoding`.
        """
        check_decoding_mode("DecoderOnly.start_decoding", self.training, self.config.causal)
        parts = DecoderParts(self.embedding, self.inputs, self.decoder, self.output)
        return DecodingState(self.hidden_states, parts)
