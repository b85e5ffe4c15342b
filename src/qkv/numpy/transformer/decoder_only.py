"""A decoder that stands alone: it goes on with a text."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from qkv.config import TransformerConfig
from qkv.numpy.attention.softmax import Floats
from qkv.numpy.layer import Layer
from qkv.numpy.masks import Bools, combine_masks, padding_mask
from qkv.numpy.positional import Ints
from qkv.numpy.transformer.build import make_decoder, make_embedding, make_output
from qkv.numpy.transformer.caches import LayerCaches
from qkv.numpy.transformer.decoding import DecodingState
from qkv.numpy.transformer.inputs import Inputs
from qkv.numpy.transformer.weights import Weights, empty, gather
from qkv.shapes import check_decoder_only, check_start, check_text

__all__ = ["DecoderOnly"]


class DecoderOnly(Layer):
    """From the beginning of a text to scores for each next token, as in GPT.

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
        check_decoder_only("DecoderOnly", config)
        self.config = config
        own: dict[str, Any] = {"rng": rng or np.random.default_rng(), "dtype": dtype}
        self.embedding = make_embedding(config, config.vocab_size, **own)
        self.inputs = Inputs(config, **own)
        self.decoder = make_decoder(config, config.n_layers, False, **own)
        self.output = make_output(config, self.embedding, **own)

    def __call__(
        self,
        ids: Ints,
        *,
        mask: Bools | None = None,
        weights: Weights | None = None,
        caches: Sequence[LayerCaches] | None = None,
        last: bool = False,
    ) -> Floats:
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
        return self.output(x[:, -1:] if last else x)  # (B, T, V)

    def backward(self, dlogits: Floats) -> None:
        """dlogits: (B, T, V); adds to the gradients of all parameters."""
        dx, _ = self.decoder.backward(self.output.backward(dlogits))
        self.embedding.backward(self.inputs.backward(dx))

    def start(self) -> DecodingState:
        """Be ready to write token by token.

        Raises:
            ValueError: the model is in training mode, or not causal.
        """
        check_start("DecoderOnly.start", self.training, self.config.causal)
        return DecodingState(self, len(self.decoder.layers))
