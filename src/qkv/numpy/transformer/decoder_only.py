"""Decoder-only Transformer: a language model of one text, as GPT is."""

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
from qkv.numpy.transformer.build_from_config import make_decoder, make_embedding, make_output
from qkv.numpy.transformer.check_tokens import check_stack, check_tokens
from qkv.numpy.transformer.decoder_cache import DecoderLayerCache
from qkv.numpy.transformer.decoding_state import DecoderParts, DecodingState
from qkv.numpy.transformer.output_projection import OutputProjection, output_projection
from qkv.numpy.transformer.positional_encoding import PositionalEncoding
from qkv.shapes.transformer import check_decoding_mode, check_single_text_config

__all__ = ["DecoderOnly"]


class DecoderOnly(Layer):
    """Decoder-only Transformer: from a text to logits of each next token, as in GPT.

    Args:
        config: sizes and choices; n_layers counts the decoder's, and "target" and "all" tie the
            same two tables.
        rng: draws the parameters, and what dropout keeps; None is a generator of its own.
        dtype: of the parameters, and of the result.
    Raises:
        ValueError: the configuration speaks of a second text.
    Source: Liu et al. 2018, section 4.2.3; Radford et al. 2018.
    """

    def __init__(
        self,
        config: TransformerConfig,
        *,
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        check_single_text_config("DecoderOnly", config)
        self.config = config
        factory_kwargs: dict[str, Any] = {"rng": rng or np.random.default_rng(), "dtype": dtype}
        self.embedding = make_embedding(config, config.vocab_size, **factory_kwargs)
        self.inputs = PositionalEncoding(config, **factory_kwargs)
        self.decoder = make_decoder(config, config.n_layers, False, **factory_kwargs)
        self.output = make_output(config, self.embedding, **factory_kwargs)

    def _check(
        self,
        ids: Ints,
        *,
        mask: Bools | None = None,
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
    def __call__(
        self,
        ids: Ints,
        *,
        mask: Bools | None = None,
        attention_maps: AttentionMaps | None = None,
        caches: Sequence[DecoderLayerCache] | None = None,
        last: bool = False,
    ) -> Floats:
        """Logits of each next token, all of them at once.

        Args:
            ids: (B, T) token ids, padded at the end: what comes later is seen by no word. Where the
                configuration lets it be seen, padding is hidden.
            mask: bool, broadcast to (B, H, T, T); besides that none looks ahead.
            attention_maps: a dict to put the weights of each head into, under the name of its
                attention, such as "decoder.layers.0.self_attention": (B, H, T, T).
            caches: what each layer has kept of the tokens before; `start_decoding` makes them.
            last: score only what comes after the last token.
        Returns:
            (B, T, V) logits, or (B, 1, V) of the last; those at t are about the token at t + 1.
        Raises:
            ValueError: ids or mask do not fit; an id that is no token is named with its place.
        """
        x = self.hidden_states(
            ids, mask=mask, attention_maps=attention_maps, caches=caches
        )  # (B, T, d_model)
        return self.output(x[:, -1:] if last else x)  # (B, T, V)

    @checked_by(_check)
    def hidden_states(
        self,
        ids: Ints,
        *,
        mask: Bools | None = None,
        attention_maps: AttentionMaps | None = None,
        caches: Sequence[DecoderLayerCache] | None = None,
    ) -> Floats:
        """The last hidden states (B, T, d_model), which `output` makes logits of.

        Args:
            ids, mask, attention_maps, caches: as for the whole model.
        Raises:
            ValueError: ids or mask do not fit; an id that is no token is named with its place.
        """
        if not self.config.causal and self.config.pad_id is not None:
            not_padding = padding_mask_formula(ids, self.config.pad_id)
            mask = combine_masks_formula(not_padding, mask)
        part_maps = empty_maps(attention_maps)
        cached = 0 if caches is None else caches[0].self_attention.length
        x, bias = self.inputs(self.embedding(ids), cached)  # (B, T, d_model)
        x = self.decoder(x, mask=mask, bias=bias, attention_maps=part_maps, caches=caches)
        add_maps(attention_maps, "decoder", part_maps)
        return x

    def backward(self, dlogits: Floats) -> None:
        """dlogits: (B, T, V); adds to the gradients of all parameters."""
        self.hidden_states_backward(self.output.backward(dlogits))

    def hidden_states_backward(self, dout: Floats) -> None:
        """dout: (B, T, d_model); adds to the gradients of all parameters but the output's."""
        dx, _ = self.decoder.backward(dout)
        self.embedding.backward(self.inputs.backward(dx))

    def output_projection(self) -> OutputProjection:
        """Weight (d_model, V) and bias (V,) that make logits of hidden states: x weight + bias."""
        return output_projection(self.output)

    def start_decoding(self) -> DecodingState:
        """Start decoding: a state that writes token by token, with empty caches.

        Raises:
            ValueError: the model is in training mode, or not causal.
        """
        check_decoding_mode("DecoderOnly.start_decoding", self.training, self.config.causal)
        parts = DecoderParts(self.embedding, self.inputs, self.decoder, self.output)
        return DecodingState(self.hidden_states, parts)
