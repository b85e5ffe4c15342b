"""The decoder as ONNX, for new tokens after those whose keys and values are cached.

    ids (N, T), memory_mask, memory_keys.0, memory_values.0, …, past_keys.0, past_values.0, …
    -> logits (N, T, V), keys.0, values.0, …

What it gives as `keys.0` it takes as `past_keys.0` at the next step. In the first, `length` is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from qkv.config import TransformerConfig
from qkv.onnx.attention import attention, keys_and_values, sizes
from qkv.onnx.caches import ROLES, cache_inputs, cache_outputs
from qkv.onnx.graph import Graph
from qkv.onnx.layers import (
    add_norm,
    embedding,
    feed_forward_add_norm,
    final_norm,
    output_projection,
)
from qkv.onnx.positions import (
    add_positions,
    alibi_bias,
    causal_mask,
    length_of,
    position_range,
    rotation,
)
from qkv.shapes.transformer import check_decoding_mode

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["decoder_step_model"]


def decoder_step_model(
    config: TransformerConfig, parameters: Mapping[str, NDArray[Any]], max_len: int
) -> ModelProto:
    """The decoder for T new tokens of N texts, after `length` tokens that are cached.

    Args:
        config, parameters: as for the encoder.
        max_len: the longest text where positions are sinusoidal or rotary.
    Raises:
        ValueError: the model is not causal.
        ImportError: onnx is not installed.
    """
    check_decoding_mode("decoder_step_model", False, config.causal)
    graph = Graph("decoder_step", parameters)
    ids = graph.input("ids", "int64", ["N", "T"])
    memory_mask = graph.input("memory_mask", "bool", ["N", 1, 1, "S"])
    memory = [cache_inputs(graph, "memory_", i, "S", config) for i in range(config.decoder_layers)]
    past = [cache_inputs(graph, "past_", i, "length", config) for i in range(config.decoder_layers)]
    present: list[tuple[str, str]] = []

    length = length_of(graph, "length", past[0][0], 2)
    end = graph.add("Add", "length_and_T", length, length_of(graph, "T", ids, 1))
    positions = position_range(graph, "positions", end, start=length)  # (T,)
    key_positions = position_range(graph, "key_positions", end)  # (length + T,)
    mask = causal_mask(graph, "causal_mask", positions, key_positions)  # (T, length + T)
    bias = alibi_bias(graph, "alibi_bias", positions, key_positions, config)
    turns = rotation(graph, "rotation", positions, config, max_len, sizes(config)[0])
    x = embedding(graph, "target_embedding", ids, config)  # (N, T, d_model)
    x = add_positions(graph, "target_inputs", x, positions, config, max_len)
    for i in range(config.decoder_layers):
        name = f"decoder.layers.{i}"

        def attend_to_self(x: str, i: int = i, name: str = f"{name}.self_attention") -> str:
            new = keys_and_values(graph, name, x, config, turns)
            k, v = (
                graph.add("Concat", f"{name}.{role}", past[i][n], new[n], axis=2)
                for n, role in enumerate(ROLES)
            )  # (N, n_kv_heads, length + T, d_k), (…, d_v)
            present.append((k, v))
            return attention(graph, name, x, k, v, config, mask=mask, bias=bias, rotation=turns)

        def attend_to_memory(x: str, i: int = i, name: str = f"{name}.cross_attention") -> str:
            return attention(graph, name, x, *memory[i], config, mask=memory_mask)

        x = add_norm(graph, f"{name}.self_attention_add_norm", x, attend_to_self, config)
        x = add_norm(graph, f"{name}.cross_attention_add_norm", x, attend_to_memory, config)
        x = feed_forward_add_norm(graph, name, x, config)
    x = final_norm(graph, "decoder.norm", x, config)
    logits = output_projection(graph, x, config)
    graph.output("logits", logits, "float32", ["N", "T", config.target_vocabulary])
    for i, values in enumerate(present):
        cache_outputs(graph, "", i, values, "N", "length + T", config)
    return graph.model(
        "Decoder of a Transformer for new tokens, after those whose keys and values are given.",
        {"max_len": max_len, "config": asdict(config)},
    )
