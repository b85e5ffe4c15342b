"""Decoding token by token: what is kept of a text, so that only what is new gets computed."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.numpy.attention.log_softmax import log_softmax
from qkv.numpy.attention.softmax import Floats
from qkv.numpy.masks import Bools
from qkv.numpy.multi_head import KeyValueCache
from qkv.numpy.positional import Ints
from qkv.numpy.transformer.caches import LayerCaches
from qkv.numpy.transformer.weights import Weights
from qkv.shapes import check_longer, check_reorder, check_text

__all__ = ["DecodingState"]


class DecodingState:
    """A batch of texts that grow: a step for `greedy`, `beam_search` and `sample`, with a cache.

        state = model.eval().start(source)
        tokens = greedy(state, prefixes, eos_id=2, max_new_tokens=50)

    Made by a model's `start`, and good for one search.

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
        self.caches = [LayerCaches(KeyValueCache(), KeyValueCache()) for _ in range(n_layers)]
        # Which text of the batch each row writes: memory, mask and cross-attention go by these.
        self._texts: list[int] | None = None if memory is None else list(range(len(memory)))

    @property
    def length(self) -> int:
        """Number of tokens so far; the next one has this position."""
        return self.caches[0].self_attention.length

    def __call__(self, prefixes: Ints) -> Floats:
        """How likely each token comes next, after texts whose first `length` tokens are known.

        Args:
            prefixes: (N, T) token ids, from the beginning.
        Returns:
            (N, V) log-probabilities.
        Raises:
            ValueError: prefixes are no longer than before, or of another number.
        """
        self._check("prefixes", prefixes)
        check_longer("DecodingState", prefixes, self.length)
        return log_softmax(self._new(prefixes[:, self.length :], last=True)[:, 0])  # (N, V)

    def extend(self, ids: Ints, *, weights: Weights | None = None) -> Floats:
        """Add tokens to the texts.

        Args:
            ids: (N, T) the new tokens alone.
            weights: a dict to put the weights of each layer into, as the model's call does.
        Returns:
            (N, T, V) logits.
        """
        self._check("ids", ids)
        return self._new(ids, weights=weights)

    def reorder(self, indices: Sequence[int] | NDArray[np.integer[Any]]) -> None:
        """Let row n go on from what was row indices[n].

        Args:
            indices: (N,) rows so far; N may be more or fewer than before.
        Raises:
            ValueError: there is nothing yet, or an index is no row; it is named with its position.
        """
        rows = check_reorder("DecodingState.reorder", indices, self.caches[0].self_attention)
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
        held = self.memory if keys is None else keys
        check_text("DecodingState", name, ids, None if held is None else len(held))

    def _new(self, ids: Ints, **options: Any) -> Floats:
        """(N, T) to logits: through all layers, which keep what the next call needs."""
        if self.memory is not None:
            options |= {"memory": self.memory, "memory_mask": self.memory_mask}
        return self._decode(ids, caches=self.caches, **options)
