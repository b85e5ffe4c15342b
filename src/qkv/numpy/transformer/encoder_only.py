"""Encoder-only Transformer: a masked language model of one text, as BERT is."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from qkv.config import TransformerConfig
from qkv.numpy.array_types import Bools, Floats, Ints
from qkv.numpy.checks import check_shapes, checked_by
from qkv.numpy.dropout import Dropout
from qkv.numpy.embedding import Embedding
from qkv.numpy.layer import Layer
from qkv.numpy.masks import combine_masks_formula, padding_mask_formula
from qkv.numpy.transformer.attention_maps import AttentionMaps, add_maps, empty_maps
from qkv.numpy.transformer.build_from_config import make_embedding, make_encoder, make_model_norm
from qkv.numpy.transformer.check_tokens import check_stack, check_tokens
from qkv.numpy.transformer.masked_language_model_head import MaskedLanguageModelHead
from qkv.numpy.transformer.positional_encoding import PositionalEncoding
from qkv.shapes import check_bool, check_count
from qkv.shapes.transformer import check_head, check_single_text_config

__all__ = ["EncoderOnly"]


class EncoderOnly(Layer):
    """Encoder-only Transformer: each token sees the whole text, and the head scores it, as in BERT.

    The input of the encoder is norm(embedding + position + token type). The token type says whether
    a token is of the first sentence, 0, or of the second, 1.

    Args:
        config: sizes and choices; n_layers counts the encoder's, "target" and "all" tie the same
            two tables, and `causal` is not asked for: nothing hides what comes later.
        n_token_types: rows of the table of token types.
        mlm_head: add the head of a masked language model. Without it there are hidden states only.
        rng: draws the parameters, and what dropout keeps; None is a generator of its own.
        dtype: of the parameters, and of the result.
    Raises:
        ValueError: the configuration speaks of a second text, or the head cannot have its
            activation.
    Source: Devlin et al. 2019, section 3.
    """

    def __init__(
        self,
        config: TransformerConfig,
        n_token_types: int = 2,
        mlm_head: bool = True,
        *,
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        check_single_text_config("EncoderOnly", config)
        check_count("EncoderOnly", n_token_types=n_token_types)
        check_bool("EncoderOnly", mlm_head=mlm_head)
        self.config, self.mlm_head = config, mlm_head
        rng = rng or np.random.default_rng()
        factory_kwargs: dict[str, Any] = {"rng": rng, "dtype": dtype}
        self.embedding = make_embedding(config, config.vocab_size, **factory_kwargs)
        self.token_types = Embedding(n_token_types, config.d_model, scale=1.0, **factory_kwargs)
        # Dropout comes after the norm, and not, as elsewhere, after the positions.
        self.inputs = PositionalEncoding(replace(config, dropout=0.0), **factory_kwargs)
        self.inputs_norm = make_model_norm(config, **factory_kwargs)
        self.dropout = Dropout(config.dropout, rng=rng)
        self.encoder = make_encoder(config, **factory_kwargs)
        if mlm_head:
            self.head = MaskedLanguageModelHead(config, self.embedding, **factory_kwargs)

    def _check(
        self,
        ids: Ints,
        *,
        token_types: Ints | None = None,
        mask: Bools | None = None,
        attention_maps: AttentionMaps | None = None,
    ) -> None:
        call = "EncoderOnly"
        check_shapes(call, ids=(ids, "int B+ T+"), token_types=(token_types, "int B T"))
        check_tokens(call, "ids", ids, self.embedding, self.inputs)
        if token_types is not None:
            check_tokens(call, "token_types", token_types, self.token_types, self.inputs)
        if mask is not None:
            check_stack(call, self.encoder, ids, self.embedding, mask=mask)

    @checked_by(_check)
    def __call__(
        self,
        ids: Ints,
        *,
        token_types: Ints | None = None,
        mask: Bools | None = None,
        attention_maps: AttentionMaps | None = None,
    ) -> Floats:
        """Logits of each token itself, all of them at once.

        Args:
            ids: (B, T) token ids, of which [MASK] hides some. Padding, `config.pad_id`, is hidden
                from every token.
            token_types: (B, T) ints below n_token_types; None means 0 everywhere.
            mask: bool, broadcast to (B, H, T, T), True = may attend; besides padding.
            attention_maps: a dict to put the weights of each head into, under the name of its
                attention, such as "encoder.layers.0.self_attention": (B, H, T, T).
        Returns:
            (B, T, V) logits; those at t are about the token at t.
        Raises:
            ValueError: ids, token_types or mask do not fit, or the model has no head.
        """
        check_head("EncoderOnly", self.mlm_head)
        return self.head(
            self.hidden_states(
                ids, token_types=token_types, mask=mask, attention_maps=attention_maps
            )
        )  # (B, T, V)

    @checked_by(_check)
    def hidden_states(
        self,
        ids: Ints,
        *,
        token_types: Ints | None = None,
        mask: Bools | None = None,
        attention_maps: AttentionMaps | None = None,
    ) -> Floats:
        """The last hidden states (B, T, d_model), which the head makes logits of.

        Args:
            ids, token_types, mask, attention_maps: as for the whole model.
        Raises:
            ValueError: ids, token_types or mask do not fit.
        """
        if token_types is None:
            token_types = np.zeros_like(ids)
        if self.config.pad_id is not None:
            not_padding = padding_mask_formula(ids, self.config.pad_id)
            mask = combine_masks_formula(not_padding, mask)
        x: Floats = self.embedding(ids) + self.token_types(token_types)  # (B, T, d_model)
        x, bias = self.inputs(x)
        x = self.dropout(self.inputs_norm(x))
        part_maps = empty_maps(attention_maps)
        x = self.encoder(x, mask=mask, bias=bias, attention_maps=part_maps)  # (B, T, d_model)
        add_maps(attention_maps, "encoder", part_maps)
        return x

    def backward(self, dlogits: Floats) -> None:
        """dlogits: (B, T, V); adds to the gradients of all parameters."""
        self.hidden_states_backward(self.head.backward(dlogits))

    def hidden_states_backward(self, dout: Floats) -> None:
        """dout: (B, T, d_model); adds to the gradients of all parameters but the head's."""
        dx = self.inputs_norm.backward(self.dropout.backward(self.encoder.backward(dout)))
        dx = self.inputs.backward(dx)  # (B, T, d_model)
        self.token_types.backward(dx)
        self.embedding.backward(dx)
