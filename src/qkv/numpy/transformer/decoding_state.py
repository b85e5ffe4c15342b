"""Decoding state: the caches of a batch of growing texts, so that only new tokens are computed."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from qkv.numpy.array_types import Bools, Floats, Ints
from qkv.numpy.attention.log_softmax import log_softmax
from qkv.numpy.checks import check_shapes
from qkv.numpy.multi_head import KeyValueCache
from qkv.numpy.transformer.attention_maps import AttentionMaps
from qkv.numpy.transformer.decoder_cache import DecoderLayerCache
from qkv.shapes.multi_head import as_cache_rows
from qkv.shapes.transformer import check_new_tokens

__all__ = ["DecodingState"]


class DecodingState:
    """Decoding state of a batch: the step function for all searches, with key-value caches.

        state = model.eval().start_decoding(source)
        tokens = greedy(state, prefixes, eos_id=2, max_new_tokens=50)

    Made by `start_decoding` of a model, and good for one search.

    Args:
        decode: the model's, from the ids of new tokens to logits.
        n_layers: of the decoder.
        memory: (N, S, d_model), what the encoder gave, or None.
        memory_mask: bool, broadcast to (N, 1, 1, S), or None.
    """

    def __init__(
        self,
        decode: Callable[..., Floats],
        n_layers: int,
        memory: Floats | None = None,
        memory_mask: Bools | None = None,
    ) -> None:
        self._decode = decode
        self.memory = memory
        self.memory_mask = memory_mask
        if memory is not None and memory_mask is not None:
            N, S, _ = memory.shape
            self.memory_mask = np.broadcast_to(memory_mask, (N, 1, 1, S))
        self.caches = [DecoderLayerCache(KeyValueCache(), KeyValueCache()) for _ in range(n_layers)]
        # Which text of the batch each row writes: memory, mask and cross-attention go by these.
        self._texts: list[int] | None = None if memory is None else list(range(len(memory)))

    @property
    def length(self) -> int:
        """Number of tokens so far; the next one has this position."""
        return self.caches[0].self_attention.length

    def __call__(self, prefixes: Ints) -> Floats:
        """Log-probabilities of the next token, after texts whose first `length` tokens are cached.

        Args:
            prefixes: (N, T) token ids, from the beginning.
        Returns:
            (N, V) log-probabilities.
        Raises:
            ValueError: prefixes are no longer than before, or of another number.
        """
        self._check("prefixes", prefixes)
        check_new_tokens("DecodingState", prefixes, self.length)
        return log_softmax(self._logits(prefixes[:, self.length :], last=True)[:, 0])  # (N, V)

    def extend(self, ids: Ints, *, attention_maps: AttentionMaps | None = None) -> Floats:
        """Append tokens to the texts, and give the logits of each.

        Args:
            ids: (N, T) the new tokens alone.
            attention_maps: a dict to put the weights of each layer into, as the model's call does.
        Returns:
            (N, T, V) logits.
        """
        self._check("ids", ids)
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
            cache.self_attention.reorder(rows)
        if self._texts is None or self.memory is None:
            return
        texts = [self._texts[row] for row in rows]
        if texts != self._texts:  # beams of one text share a memory, so most of the time it stays
            for cache in self.caches:
                cache.cross_attention.reorder(rows)
            self.memory = self.memory[rows]
            self.memory_mask = None if self.memory_mask is None else self.memory_mask[rows]
            self._texts = texts

    def _check(self, name: str, ids: Ints) -> None:
        keys = self.caches[0].self_attention.keys
        batch = self.memory if keys is None else keys
        B = None if batch is None else len(batch)
        check_shapes("DecodingState", B=B, **{name: (ids, "int B+ T+")})

    def _logits(self, ids: Ints, **options: Any) -> Floats:
        """New ids (N, T) to logits, through all layers, which add to their caches."""
        if self.memory is not None:
            options |= {"memory": self.memory, "memory_mask": self.memory_mask}
        return self._decode(ids, caches=self.caches, **options)
