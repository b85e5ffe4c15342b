"""Encoder and decoder step as modules whose inputs and outputs are tensors alone, caches too.

They are the torch room's own model, so `torch.onnx.export` reads the formulas from there. Positions
alone are computed before, and stand in the file as a table of `max_len` rows: a longer text is then
refused by the runtime, which finds no such row.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import qkv.torch as qt
from qkv.torch.transformer.decoder_cache import DecoderLayerCache
from qkv.torch.transformer.positional_encoding import PositionalEncoding

__all__ = ["DecoderStep", "Encoder", "with_position_tables"]


class Encoder(nn.Module):
    """The encoder, and what the decoder's cross-attention reads of its memory.

    Those keys and values are computed once: that cache is static, as
    `DecoderLayerCache.cross_attention` is.
    """

    def __init__(self, model: qt.Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, source: Tensor) -> tuple[Tensor, ...]:
        """Source (B, S) to memory, its mask (B, 1, 1, S), and keys and values of each layer."""
        memory = self.model.encode(source)  # (B, S, d_model)
        mask = self.model.memory_mask(source)
        if mask is None:  # no token is padding
            mask = torch.ones_like(source, dtype=torch.bool)[:, None, None]  # (B, 1, 1, S)
        outputs = [memory, mask]
        for layer in self.model.decoder.layers:
            attention: Any = layer.cross_attention
            n_kv_heads = attention.sizes[2]
            outputs.append(qt.split_heads(attention.w_k(memory), n_kv_heads))
            outputs.append(qt.split_heads(attention.w_v(memory), n_kv_heads))
        return tuple(outputs)


class DecoderStep(nn.Module):
    """The decoder for new tokens, after those whose keys and values are cached."""

    def __init__(self, model: qt.Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, ids: Tensor, memory_mask: Tensor, memory: list[Tensor], past: list[Tensor]
    ) -> tuple[Tensor, ...]:
        """New ids (N, T) to their logits (N, T, V), and keys and values of all tokens so far.

        Args:
            memory_mask: (N, 1, 1, S), as the encoder gives it.
            memory: keys (N, n_kv_heads, S, d_k) and values (N, n_kv_heads, S, d_v) of layer after
                layer, as the encoder gives them.
            past: likewise (N, n_kv_heads, length, …), as the step before has given them; in the
                first, of length 0.
        """
        caches = []
        for keys, values, past_keys, past_values in zip(
            memory[::2], memory[1::2], past[::2], past[1::2], strict=True
        ):
            cache = DecoderLayerCache(qt.KeyValueCache(), qt.KeyValueCache())
            cache.self_attention.append(past_keys, past_values)
            cache.cross_attention.set_static(keys, values)
            caches.append(cache)
        N, S = memory_mask.shape[0], memory_mask.shape[-1]
        # Nothing reads the memory itself where its keys and values are cached.
        unread = memory[0].new_zeros(N, S, self.model.config.d_model)
        outputs = [self.model.decode(ids, unread, memory_mask=memory_mask, caches=caches)]
        for cache in caches:
            assert cache.self_attention.keys is not None  # for the type checker
            assert cache.self_attention.values is not None
            outputs += [cache.self_attention.keys, cache.self_attention.values]
        return tuple(outputs)


class PositionTable(nn.Module):
    """Positional encoding by a table, in the place of `PositionalEncoding`: the same numbers."""

    table: Tensor

    def __init__(self, inputs: PositionalEncoding, max_len: int) -> None:
        super().__init__()
        config = inputs.config
        if config.positions == "learned":
            table = inputs.positions.weight.detach()  # (max_len, d_model)
        else:
            table = qt.sinusoidal_encoding(max_len, config.d_model, layout=config.layout)
        self.register_buffer("table", table)

    def forward(self, x: Tensor, start: int = 0) -> tuple[Tensor, None]:
        """x (B, T, d_model), whose first vector stands at `start`, to the same shape; no bias."""
        positions = torch.arange(start, start + x.shape[1])  # (T,)
        return x + F.embedding(positions, self.table), None


def with_position_tables(model: qt.Transformer, max_len: int) -> qt.Transformer:
    """The model itself, with a table where it adds positions."""
    if model.config.positions in ("learned", "sinusoidal"):
        for name in ("source_inputs", "target_inputs"):
            model.add_module(name, PositionTable(getattr(model, name), max_len))
    return model
