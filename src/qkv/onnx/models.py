"""The two files of a model as ONNX: the encoder, and the decoder for new tokens with its cache.

    encoder.onnx       source (B, S) -> memory, memory_mask, memory_keys.0, memory_values.0, …
    decoder_step.onnx  ids (N, T), what came of the memory, past_keys.0, past_values.0, …
                       -> logits (N, T, V), keys.0, values.0, …

The keys and values that cross-attention reads are computed after the encoder, once: that cache is
static, as `DecoderLayerCache.cross_attention` is. What the decoder gives as `keys.0` it takes as
`past_keys.0` at the next step. In the first, `length` is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from qkv.config import TransformerConfig
from qkv.onnx.attention import attention, keys_and_values, sizes
from qkv.onnx.graph import Graph
from qkv.onnx.layers import add_norm, embedding, feed_forward, final_norm, output_projection
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

__all__ = ["decoder_step_model", "encoder_model"]

Parameters = Mapping[str, NDArray[Any]]
ROLES = ("keys", "values")


def encoder_model(config: TransformerConfig, parameters: Parameters, max_len: int) -> ModelProto:
    """The encoder, up to the keys and values that the decoder reads at each step.

    Args:
        config: the model's sizes and choices.
        parameters: all of the model by name, as `bridge.state_dict` gives them.
        max_len: the longest source where positions are sinusoidal or rotary.
    Raises:
        ImportError: onnx is not installed.
    """
    graph = Graph("encoder", parameters)
    source = graph.input("source", "int64", ["B", "S"])
    S = length_of(graph, "S", source, 1)
    positions = position_range(graph, "positions", S)  # (S,)
    mask = _memory_mask(graph, source, config)  # (B, 1, 1, S)
    bias = alibi_bias(graph, "alibi_bias", positions, positions, config)  # (H, S, S)
    turns = rotation(graph, "rotation", positions, config, max_len, sizes(config)[0])
    x = embedding(graph, "source_embedding", source, config)  # (B, S, d_model)
    x = add_positions(graph, "source_inputs", x, positions, config, max_len)
    for i in range(config.n_layers):
        name = f"encoder.layers.{i}"

        def attend(x: str, name: str = f"{name}.self_attention") -> str:
            k, v = keys_and_values(graph, name, x, config, turns)
            return attention(graph, name, x, k, v, config, mask=mask, bias=bias, rotation=turns)

        x = add_norm(graph, f"{name}.self_attention_add_norm", x, attend, config)
        x = _feed_forward(graph, name, x, config)
    memory = final_norm(graph, "encoder.norm", x, config)  # (B, S, d_model)
    graph.output("memory", memory, "float32", ["B", "S", config.d_model])
    graph.output("memory_mask", mask, "bool", ["B", 1, 1, "S"])
    for i in range(config.decoder_layers):
        name = f"decoder.layers.{i}.cross_attention"
        values = keys_and_values(graph, name, memory, config, None)
        _outputs(graph, "memory_", i, values, "B", "S", config)
    return graph.model(
        "Encoder of a Transformer, and the keys and values of its decoder's cross-attention.",
        _metadata(config, max_len),
    )


def decoder_step_model(
    config: TransformerConfig, parameters: Parameters, max_len: int
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
    memory = [_inputs(graph, "memory_", i, "S", config) for i in range(config.decoder_layers)]
    past = [_inputs(graph, "past_", i, "length", config) for i in range(config.decoder_layers)]
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
        x = _feed_forward(graph, name, x, config)
    x = final_norm(graph, "decoder.norm", x, config)
    logits = output_projection(graph, x, config)
    graph.output("logits", logits, "float32", ["N", "T", config.target_vocabulary])
    for i, values in enumerate(present):
        _outputs(graph, "", i, values, "N", "length + T", config)
    return graph.model(
        "Decoder of a Transformer for new tokens, after those whose keys and values are given.",
        _metadata(config, max_len),
    )


def _feed_forward(graph: Graph, name: str, x: str, config: TransformerConfig) -> str:
    """Feed-forward of the layer of this name, in Add & Norm."""
    return add_norm(
        graph,
        f"{name}.feed_forward_add_norm",
        x,
        lambda x: feed_forward(graph, f"{name}.feed_forward", x, config),
        config,
    )


def _memory_mask(graph: Graph, source: str, config: TransformerConfig) -> str:
    """Which source tokens may be attended to: (B, 1, 1, S), False where padding is."""
    pad_id = -1 if config.pad_id is None else config.pad_id  # no token is −1
    padding = graph.number("pad_id", pad_id)
    is_word = graph.add("Not", "is_word", graph.add("Equal", "is_padding", source, padding))
    axes = graph.integers("memory_mask.axes", 1, 2)
    return graph.add("Unsqueeze", "source_mask", is_word, axes)


def _inputs(
    graph: Graph, prefix: str, layer: int, length: str, config: TransformerConfig
) -> tuple[str, str]:
    """Keys and values of a layer that the decoder is given."""
    keys, values = (
        graph.input(f"{prefix}{role}.{layer}", "float32", shape)
        for role, shape in zip(ROLES, _shapes(config, "N", length), strict=True)
    )
    return keys, values


def _outputs(
    graph: Graph,
    prefix: str,
    layer: int,
    values: tuple[str, str],
    batch: str,
    length: str,
    config: TransformerConfig,
) -> None:
    """Keys and values of a layer that are given out, to be kept."""
    for role, value, shape in zip(ROLES, values, _shapes(config, batch, length), strict=True):
        graph.output(f"{prefix}{role}.{layer}", value, "float32", shape)


def _shapes(config: TransformerConfig, batch: str, length: str) -> list[list[int | str]]:
    """The shapes of keys and of values."""
    d_k, d_v, n_kv_heads = sizes(config)
    return [[batch, n_kv_heads, length, d] for d in (d_k, d_v)]


def _metadata(config: TransformerConfig, max_len: int) -> dict[str, Any]:
    return {"max_len": max_len, "config": asdict(config)}
