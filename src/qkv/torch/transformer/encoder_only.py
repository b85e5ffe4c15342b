"""Encoder-only Transformer: a masked language model of one text, as BERT is."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from qkv.config import TransformerConfig
from qkv.shapes import check_bool, check_count
from qkv.shapes.transformer import check_head, check_single_text_config
from qkv.torch.checks import check_shapes, checked_by
from qkv.torch.dropout import Dropout
from qkv.torch.embedding import Embedding
from qkv.torch.layer import Layer
from qkv.torch.masks import combine_masks_formula, padding_mask_formula
from qkv.torch.transformer.attention_maps import AttentionMaps, add_maps, empty_maps
from qkv.torch.transformer.build_from_config import make_embedding, make_encoder, make_model_norm
from qkv.torch.transformer.check_tokens import check_stack, check_tokens
from qkv.torch.transformer.masked_language_model_head import MaskedLanguageModelHead
from qkv.torch.transformer.positional_encoding import PositionalEncoding

__all__ = ["EncoderOnly"]


class EncoderOnly(Layer):
    """Encoder-only Transformer: each token sees the whole text, and the head scores it, as in BERT.

    As `qkv.numpy.EncoderOnly`, with:
        rng: draws the parameters, and what dropout keeps; None is torch's own generator.
        dtype, device: of the parameters, and of the result.
    """

    def __init__(
        self,
        config: TransformerConfig,
        n_token_types: int = 2,
        mlm_head: bool = True,
        *,
        rng: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        check_single_text_config("EncoderOnly", config)
        check_count("EncoderOnly", n_token_types=n_token_types)
        check_bool("EncoderOnly", mlm_head=mlm_head)
        self.config, self.mlm_head = config, mlm_head
        factory_kwargs: dict[str, Any] = {"rng": rng, "dtype": dtype, "device": device}
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
        ids: Tensor,
        *,
        token_types: Tensor | None = None,
        mask: Tensor | None = None,
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
    def forward(
        self,
        ids: Tensor,
        *,
        token_types: Tensor | None = None,
        mask: Tensor | None = None,
        attention_maps: AttentionMaps | None = None,
    ) -> Tensor:
        """Logits of each token itself, all of them at once.

        As `qkv.numpy.EncoderOnly.__call__`.
        """
        check_head("EncoderOnly", self.mlm_head)
        x = self.hidden_states(
            ids, token_types=token_types, mask=mask, attention_maps=attention_maps
        )
        logits: Tensor = self.head(x)  # (B, T, V)
        return logits

    @checked_by(_check)
    def hidden_states(
        self,
        ids: Tensor,
        *,
        token_types: Tensor | None = None,
        mask: Tensor | None = None,
        attention_maps: AttentionMaps | None = None,
    ) -> Tensor:
        """The last hidden states (B, T, d_model), which the head makes logits of.

        As `qkv.numpy.EncoderOnly.hidden_states`.
        """
        if token_types is None:
            token_types = torch.zeros_like(ids)
        if self.config.pad_id is not None:
            not_padding = padding_mask_formula(ids, self.config.pad_id)
            mask = combine_masks_formula(not_padding, mask)
        x = self.embedding(ids) + self.token_types(token_types)  # (B, T, d_model)
        x, bias = self.inputs(x)
        x = self.dropout(self.inputs_norm(x))
        part_maps = empty_maps(attention_maps)
        out: Tensor = self.encoder(x, mask=mask, bias=bias, attention_maps=part_maps)
        add_maps(attention_maps, "encoder", part_maps)
        return out  # (B, T, d_model)
