"""The encoder as ONNX, and the keys and values that the decoder reads of its memory.

    source (B, S) -> memory, memory_mask, memory_keys.0, memory_values.0, …

Cross-attention's keys and values are computed here, once: that cache is static, as
`DecoderLayerCache.cross_attention` is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from qkv.config import TransformerConfig
from qkv.onnx.attention import attention, keys_and_values, sizes
from qkv.onnx.caches import cache_outputs
from qkv.onnx.graph import Graph
from qkv.onnx.layers import add_norm, embedding, feed_forward_add_norm, final_norm
from qkv.onnx.positions import add_positions, alibi_bias, length_of, position_range, rotation

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["encoder_model"]


def encoder_model(
    config: TransformerConfig, parameters: Mapping[str, NDArray[Any]], max_len: int
) -> ModelProto:
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
        x = feed_forward_add_norm(graph, name, x, config)
    memory = final_norm(graph, "encoder.norm", x, config)  # (B, S, d_model)
    graph.output("memory", memory, "float32", ["B", "S", config.d_model])
    graph.output("memory_mask", mask, "bool", ["B", 1, 1, "S"])
    for i in range(config.decoder_layers):
        name = f"decoder.layers.{i}.cross_attention"
        values = keys_and_values(graph, name, memory, config, None)
        cache_outputs(graph, "memory_", i, values, "B", "S", config)
    return graph.model(
        "Encoder of a Transformer, and the keys and values of its decoder's cross-attention.",
        {"max_len": max_len, "config": asdict(config)},
    )


def _memory_mask(graph: Graph, source: str, config: TransformerConfig) -> str:
    """Which source tokens may be attended to: (B, 1, 1, S), False where padding is."""
    pad_id = -1 if config.pad_id is None else config.pad_id  # no token is −1
    padding = graph.number("pad_id", pad_id)
    is_word = graph.add("Not", "is_word", graph.add("Equal", "is_padding", source, padding))
    axes = graph.integers("memory_mask.axes", 1, 2)
    return graph.add("Unsqueeze", "source_mask", is_word, axes)
