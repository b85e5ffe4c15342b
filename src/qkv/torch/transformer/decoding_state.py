"""Decoding state: the caches of a batch of growing texts, so that only new tokens are computed."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from qkv.shapes.multi_head import as_cache_rows, check_cache_mode
from qkv.shapes.transformer import check_new_tokens
from qkv.torch.attention.log_softmax import log_softmax_formula
from qkv.torch.checks import check_shapes, checked_by
from qkv.torch.half_precision import upcast
from qkv.torch.multi_head import KeyValueCache
from qkv.torch.transformer.attention_maps import AttentionMaps
from qkv.torch.transformer.check_tokens import check_tokens
from qkv.torch.transformer.decoder_cache import DecoderLayerCache
from qkv.torch.transformer.incremental import DecoderParts, IncrementalDecoder

__all__ = ["DecodingState"]


class DecodingState:
    """Decoding state of a batch: the step function for all searches, with key-value caches.

        state = model.eval().start_decoding(source)
        tokens = greedy(state, prefixes, eos_id=2, max_new_tokens=50)

    Made by `start_decoding` of a model, and good for one search.

    Args:
        decode: the model's, from the ids of new tokens to logits.
        parts: of the model, which do the same for one new token without its checks.
        memory: (N, S, d_model), what the encoder gave, or None.
        memory_mask: bool, broadcast to (N, 1, 1, S), or None.
    """

    def __init__(
        self,
        decode: Callable[..., Tensor],
        parts: DecoderParts,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> None:
        self._decode = decode
        self._parts = parts
        self.memory = memory
        self.memory_mask: Tensor | None = None
        if memory is not None and memory_mask is not None and not memory_mask.all():
            N, S, _ = memory.shape
            self.memory_mask = memory_mask.expand(N, 1, 1, S)
        self._bias: Tensor | None = None
        self.caches = [
            DecoderLayerCache(KeyValueCache(), KeyValueCache()) for _ in parts.decoder.layers
        ]
        # Which text of the batch each row writes: memory, mask and cross-attention go by these.
        self._texts: list[int] | None = None if memory is None else list(range(len(memory)))

    @property
    def length(self) -> int:
        """Number of tokens so far; the next one has this position."""
        return self.caches[0].self_attention.length

    def _check_prefixes(self, prefixes: Tensor) -> None:
        self._check("prefixes", prefixes)
        check_new_tokens("DecodingState", prefixes, self.length)
        self._check_tokens("prefixes", prefixes, 0)

    @torch.no_grad()
    @checked_by(_check_prefixes)
    def __call__(self, prefixes: Tensor) -> Tensor:
        """Log-probabilities of the next token, after texts whose first `length` tokens are cached.

        Args:
            prefixes: (N, T) token ids, from the beginning.
        Returns:
            (N, V) log-probabilities.
        Raises:
            ValueError: prefixes are no longer than before, or of another number.
        """
        logits = self._logits(prefixes[:, self.length :], last=True)[:, 0]  # (N, V)
        if (logits.amax(-1) == -torch.inf).any():  # a row without any token
            return log_softmax_formula(logits)
        return torch.log_softmax(upcast(logits), -1).to(logits.dtype)  # the same without its guard

    def _check_extend(self, ids: Tensor, *, attention_maps: AttentionMaps | None = None) -> None:
        self._check("ids", ids)
        self._check_tokens("ids", ids, self.length)

    @torch.no_grad()
    @checked_by(_check_extend)
    def extend(self, ids: Tensor, *, attention_maps: AttentionMaps | None = None) -> Tensor:
        """Append tokens to the texts, and give the logits of each.

        Args:
            ids: (N, T) the new tokens alone.
            attention_maps: a dict to put the weights of each layer into, as the model's call does.
        Returns:
            (N, T, V) logits.
        """
        logits = self._logits(ids, attention_maps=attention_maps)
        return logits.clone() if logits.is_inference() else logits  # what a caller may write to

    @torch.inference_mode()
    def reorder(self, indices: Sequence[int] | Tensor) -> None:
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
            self._texts, self._bias = texts, None

    def _check(self, name: str, ids: Tensor) -> None:
        keys = self.caches[0].self_attention.keys
        batch = self.memory if keys is None else keys
        B = None if batch is None else len(batch)
        check_shapes("DecodingState", B=B, **{name: (ids, "int B+ T+")})
        check_cache_mode("DecodingState", self._parts.decoder.training)

    def _check_tokens(self, name: str, ids: Tensor, start: int) -> None:
        embedding, inputs, *_ = self._parts
        check_tokens("DecodingState", name, ids, embedding, inputs, start)

    def _logits(
        self, ids: Tensor, attention_maps: AttentionMaps | None = None, last: bool = False
    ) -> Tensor:
        """New ids (N, T) to logits (N, T, V) or (N, 1, V), through all layers and their caches."""
        one_token = ids.shape[1] == 1 and self.length > 0 and attention_maps is None
        if one_token and not self._parts.decoder.training and self._incremental is not None:
            with torch.inference_mode():
                return self._incremental(ids, self.caches, self._memory_bias())[:, None]
        for cache in self.caches:
            cache.self_attention.leave_inference_mode()
        options: dict[str, Any] = {"attention_maps": attention_maps, "last": last}
        if self.memory is not None:
            options |= {"memory": self.memory, "memory_mask": self.memory_mask}
        return self._decode(ids, caches=self.caches, **options)

    @cached_property
    def _incremental(self) -> IncrementalDecoder | None:
        """The decoder for one new token of each text; None where it cannot stand for the layers."""
        some_see_nothing = self.memory_mask is not None and not self.memory_mask.any(-1).all()
        if some_see_nothing or not self._parts.are_known():
            return None
        keys = self.caches[0].self_attention.keys
        return IncrementalDecoder(self._parts, rows=0 if keys is None else len(keys))

    def _memory_bias(self) -> Tensor | None:
        """The mask of the memory as what is added to scores, (A, 1, 1, S): a row for K of ours."""
        if self.memory_mask is None or self.memory is None:
            return None
        keys, _, K = self.caches[0].cross_attention.shared_rows()
        if self._bias is None or len(self._bias) != len(keys):
            mask = self.memory_mask[::K]  # (A, 1, 1, S)
            self._bias = self.memory.new_zeros(mask.shape).masked_fill(~mask, -torch.inf)
        return self._bias
