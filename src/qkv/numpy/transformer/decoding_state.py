"""Decoding state: the caches of a batch of growing texts, so that only new tokens are computed."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from qkv.numpy.array_types import Bools, Floats, Ints
from qkv.numpy.attention.log_softmax import log_softmax_formula
from qkv.numpy.checks import check_shapes, checked_by
from qkv.numpy.embedding import Embedding
from qkv.numpy.linear import Linear
from qkv.numpy.multi_head import KeyValueCache
from qkv.numpy.transformer.attention_maps import AttentionMaps
from qkv.numpy.transformer.check_tokens import check_tokens
from qkv.numpy.transformer.decoder import Decoder
from qkv.numpy.transformer.decoder_cache import DecoderLayerCache
from qkv.numpy.transformer.output_projection import TiedOutput
from qkv.numpy.transformer.positional_encoding import PositionalEncoding
from qkv.shapes.multi_head import as_cache_rows, check_cache_mode
from qkv.shapes.transformer import check_new_tokens

__all__ = ["DecodingState"]


class DecoderParts(NamedTuple):
    """What turns the ids of new tokens into logits."""

    embedding: Embedding
    inputs: PositionalEncoding
    decoder: Decoder
    output: Linear | TiedOutput


class DecodingState:
    """Decoding state of a batch: the step function for all searches, with key-value caches.

        state = model.eval().start_decoding(source)
        tokens = greedy(state, prefixes, eos_id=2, max_new_tokens=50)

    Made by `start_decoding` of a model, and good for one search. Its caches are what Hugging Face
    calls `past_key_values`.

    Args:
        hidden_states: the model's, of the ids of new tokens.
        parts: of the model.
        memory: (N, S, d_model), what the encoder gave, or None.
        memory_mask: bool, broadcast to (N, 1, 1, S), or None.
    """

    def __init__(
        self,
        hidden_states: Callable[..., Floats],
        parts: DecoderParts,
        memory: Floats | None = None,
        memory_mask: Bools | None = None,
    ) -> None:
        self._hidden_states = hidden_states
        self._parts = parts
        self.memory = memory
        self.memory_mask: Bools | None = None
        if memory is not None and memory_mask is not None and not memory_mask.all():
            N, S, _ = memory.shape
            self.memory_mask = np.broadcast_to(memory_mask, (N, 1, 1, S))
        self.caches = [
            DecoderLayerCache(KeyValueCache(), KeyValueCache()) for _ in parts.decoder.layers
        ]
        # Which text of the batch each row writes: memory, mask and cross-attention go by these.
        self._texts: list[int] | None = None if memory is None else list(range(len(memory)))

    @property
    def length(self) -> int:
        """Number of tokens so far; the next one has this position."""
        return self.caches[0].self_attention.length

    def _check_prefixes(self, prefixes: Ints) -> None:
        self._check("prefixes", prefixes)
        check_new_tokens("DecodingState", prefixes, self.length)
        self._check_tokens("prefixes", prefixes, 0)

    @checked_by(_check_prefixes)
    def __call__(self, prefixes: Ints) -> Floats:
        """Log-probabilities of the next token, after texts whose first `length` tokens are cached.

        Args:
            prefixes: (N, T) token ids, from the beginning.
        Returns:
            (N, V) log-probabilities.
        Raises:
            ValueError: prefixes are no longer than before, or of another number.
        """
        return log_softmax_formula(
            self._logits(prefixes[:, self.length :], last=True)[:, 0]
        )  # (N, V)

    def _check_extend(self, ids: Ints, *, attention_maps: AttentionMaps | None = None) -> None:
        self._check("ids", ids)
        self._check_tokens("ids", ids, self.length)

    @checked_by(_check_extend)
    def extend(self, ids: Ints, *, attention_maps: AttentionMaps | None = None) -> Floats:
        """Append tokens to the texts, and give the logits of each.

        Args:
            ids: (N, T) the new tokens alone.
            attention_maps: a dict to put the weights of each layer into, as the model's call does.
        Returns:
            (N, T, V) logits.
        """
        return self._logits(ids, attention_maps=attention_maps)

    def reorder(self, indices: Sequence[int] | Ints) -> None:
        """Reorder the rows, as beam search does: row n goes on from what was row indices[n].

        Args:
            indices: (N,) rows so far; N may be more or fewer than before.
        Raises:
            ValueError: there is nothing yet, or an index is no row; it is named with its position.
        """
        rows = as_cache_rows("DecodingState.reorder", indices, self.caches[0].self_attention)
        for cache in self.caches:
            cache.self_attention.reorder_unchecked(rows)
        if self._texts is None or self.memory is None:
            return
        texts = [self._texts[row] for row in rows]
        if texts != self._texts:  # beams of one text share a memory, so most of the time it stays
            for cache in self.caches:
                cache.cross_attention.reorder_unchecked(rows)
            self.memory = self.memory[rows]
            self.memory_mask = None if self.memory_mask is None else self.memory_mask[rows]
            self._texts = texts

    def _check(self, name: str, ids: Ints) -> None:
        keys = self.caches[0].self_attention.keys
        batch = self.memory if keys is None else keys
        B = None if batch is None else len(batch)
        check_shapes("DecodingState", B=B, **{name: (ids, "int B+ T+")})
        check_cache_mode("DecodingState", self._parts.decoder.training)

    def _check_tokens(self, name: str, ids: Ints, start: int) -> None:
        embedding, inputs, *_ = self._parts
        check_tokens("DecodingState", name, ids, embedding, inputs, start)

    def _logits(
        self, ids: Ints, attention_maps: AttentionMaps | None = None, last: bool = False
    ) -> Floats:
        """New ids (N, T) to logits (N, T, V) or (N, 1, V), through all layers and their caches."""
        options: dict[str, Any] = {"caches": self.caches, "attention_maps": attention_maps}
        if self.memory is not None:
            options |= {"memory": self.memory, "memory_mask": self.memory_mask}
        x = self._hidden_states(ids, **options)  # (N, T, d_model)
        return self._parts.output(x[:, -1:] if last else x)
