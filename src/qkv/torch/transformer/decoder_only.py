"""A decoder that stands alone: it goes on with a text."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from qkv.config import TransformerConfig
from qkv.shapes import check_decoder_only, check_start, check_text
from qkv.torch.layer import Layer
from qkv.torch.masks import combine_masks, padding_mask
from qkv.torch.transformer.build import make_decoder, make_embedding, make_output
from qkv.torch.transformer.caches import LayerCaches
from qkv.torch.transformer.decoding import DecodingState
from qkv.torch.transformer.inputs import Inputs
from qkv.torch.transformer.weights import Weights, empty, gather

__all__ = ["DecoderOnly"]


class DecoderOnly(Layer):
    """From the beginning of a text to scores for each next token, as in GPT.

    Args:
        config: sizes and choices; n_layers counts the decoder's, and "target" and "all" tie the
            same two tables.
        rng: draws the parameters, and what dropout keeps; None is torch's own generator.
        dtype, device: of the parameters, and of the result.
    Raises:
        ValueError: the configuration speaks of a second text.
    Source: Liu et al. 2018, section 4.2.3; Radford et al. 2018.
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
        check_decoder_only("DecoderOnly", config)
        self.config = config
        own: dict[str, Any] = {"rng": rng, "dtype": dtype, "device": device}
        self.embedding = make_embedding(config, config.vocab_size, **own)
        self.inputs = Inputs(config, **own)
        self.decoder = make_decoder(config, config.n_layers, False, **own)
        self.output = make_output(config, self.embedding, **own)

    def forward(
        self,
        ids: Tensor,
        *,
        mask: Tensor | None = None,
        weights: Weights | None = None,
        caches: Sequence[LayerCaches] | None = None,
        last: bool = False,
    ) -> Tensor:
        """Score each next token, all of them at once.

        Args:
            ids: (B, T) token ids, padded at the end: what comes later is seen by no word. Where the
                configuration lets it be seen, padding is hidden.
            mask: bool, broadcast to (B, H, T, T); besides that none looks ahead.
            weights: a dict to put the weights of each head into, under the name of its attention,
                such as "decoder.layers.0.self_attention": (B, H, T, T).
            caches: what each layer has kept of the tokens before; `start` makes them.
            last: score only what comes after the last token.
        Returns:
            (B, T, V) logits, or (B, 1, V) of the last; those at t are about the token at t + 1.
        Raises:
            ValueError: ids or mask do not fit; an id that is no token is named with its place.
        """
        check_text("DecoderOnly", "ids", ids)
        if not self.config.causal and self.config.pad_id is not None:
            mask = combine_masks(padding_mask(ids, self.config.pad_id), mask)
        own, past = empty(weights), 0 if caches is None else caches[0].self_attention.length
        x, bias = self.inputs(self.embedding(ids), past)  # (B, T, d_model)
        x = self.decoder(x, mask=mask, bias=bias, weights=own, caches=caches)
        gather(weights, "decoder", own)
        logits: Tensor = self.output(x[:, -1:] if last else x)  # (B, T, V)
        return logits

    def start(self) -> DecodingState:
        """Be ready to write token by token.

        Raises:
            ValueError: the model is in training mode, or not causal.
        """
        check_start("DecoderOnly.start", self.training, self.config.causal)
        return DecodingState(self, len(self.decoder.layers))
