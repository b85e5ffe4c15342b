"""Decoding state: the caches of a batch of growing texts, so that only new tokens are computed."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor

from qkv.shapes.multi_head import as_cache_rows, check_cache_mode
from qkv.shapes.transformer import check_new_tokens
from qkv.torch.attention.log_softmax import log_softmax_formula
from qkv.torch.checks import check_shapes, checked_by
from qkv.torch.embedding import Embedding
from qkv.torch.half_precision import upcast
from qkv.torch.layer import Layer
from qkv.torch.linear import Linear
from qkv.torch.multi_head import KeyValueCache
from qkv.torch.transformer.attention_maps import AttentionMaps
from qkv.torch.transformer.check_tokens import check_tokens
from qkv.torch.transformer.decoder import Decoder
from qkv.torch.transformer.decoder_cache import DecoderLayerCache
from qkv.torch.transformer.output_projection import TiedOutput, output_projection
from qkv.torch.transformer.positional_encoding import PositionalEncoding

__all__ = ["DecodingState"]


class DecoderParts(NamedTuple):
    """What turns the ids of new tokens into logits."""

    embedding: Embedding
    inputs: PositionalEncoding
    decoder: Decoder
    output: Linear | TiedOutput


class DecodingState:
    """Decoding state of a batch: the step function for all searches, with key-value caches.

    As `qkv.numpy.DecodingState`.
    """

    def __init__(
        self,
        hidden_states: Callable[..., Tensor],
        parts: DecoderParts,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> None:
        self._hidden_states = hidden_states
        self._parts = parts
        self.memory = memory
        self.memory_mask: Tensor | None = None
        if memory is not None and memory_mask is not None and not memory_mask.all():
            N, S, _ = memory.shape
            self.memory_mask = memory_mask.expand(N, 1, 1, S)
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

        As `qkv.numpy.DecodingState.__call__`.
        """
        logits = self._logits(prefixes[:, self.length :], last=True)[:, 0]  # (N, V)
        log_probs = torch.log_softmax(upcast(logits), -1).to(logits.dtype)
        # A row without any token is NaN here, where the guard of the formula gives −∞.
        return log_softmax_formula(logits) if log_probs[:, 0].isnan().any() else log_probs

    def _check_extend(self, ids: Tensor, *, attention_maps: AttentionMaps | None = None) -> None:
        self._check("ids", ids)
        self._check_tokens("ids", ids, self.length)

    @torch.no_grad()
    @checked_by(_check_extend)
    def extend(self, ids: Tensor, *, attention_maps: AttentionMaps | None = None) -> Tensor:
        """Append tokens to the texts, and give the logits of each.

        As `qkv.numpy.DecodingState.extend`.
        """
        return self._logits(ids, attention_maps=attention_maps).clone()

    @torch.inference_mode()
    def reorder(self, indices: Sequence[int] | Tensor) -> None:
        """Reorder the rows, as beam search does: row n goes on from what was row indices[n].

        As `qkv.numpy.DecodingState.reorder`.
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
        options: dict[str, Any] = {"caches": self.caches, "attention_maps": attention_maps}
        if self.memory is not None:
            options |= {"memory": self.memory, "memory_mask": self.memory_mask}
        # What a caller gets to see is made outside of inference mode: it can be written to.
        with torch.inference_mode() if attention_maps is None else torch.no_grad():
            x = self._hidden_states(ids, **options)  # (N, T, d_model)
            return self._output(x[:, -1:] if last else x)

    @cached_property
    def _output(self) -> Callable[[Tensor], Tensor]:
        """The output projection; a CPU takes its weight faster as (d_model, V) in one piece."""
        output = self._parts.output
        if type(output) not in (Linear, TiedOutput) or is_hooked(output):
            return output
        weight, bias, _ = output_projection(output)
        if weight.device.type != "cpu":
            return output
        weight = weight.T.contiguous()
        return lambda x: x @ weight if bias is None else x @ weight + bias


def is_hooked(layer: Layer) -> bool:
    """Whether a call of the layer does more than its class says."""
    hooks = layer._forward_hooks or layer._forward_pre_hooks
    return bool(hooks) or "forward" in vars(layer)
