"""Multi-head attention as nodes of ONNX."""

from __future__ import annotations

import math

import numpy as np

from qkv.config import TransformerConfig
from qkv.onnx.graph import Graph
from qkv.onnx.layers import linear
from qkv.onnx.positions import Rotation, rotate
from qkv.shapes.multi_head import head_sizes

__all__ = ["attention", "keys_and_values", "sizes"]

# Stands for −∞ in masked scores: a row of nothing else is then even, and no row is NaN.
LOWEST = float(np.finfo(np.float32).min)


def sizes(config: TransformerConfig) -> tuple[int, int, int]:
    """Width of a head's keys and of its values, and the number of heads of keys and values."""
    d_k, d_v, n_kv_heads = head_sizes(
        "", config.d_model, config.n_heads, config.d_k, config.d_v, config.n_kv_heads, False
    )
    return d_k, d_v, n_kv_heads


def keys_and_values(
    graph: Graph, name: str, source: str, config: TransformerConfig, rotation: Rotation | None
) -> tuple[str, str]:
    """Keys (B, n_kv_heads, S, d_k) and values (B, n_kv_heads, S, d_v) of a source (B, S, d_model).

    Those of cross-attention are computed once, after the encoder, and are the same at each step.
    """
    d_k, d_v, n_kv_heads = sizes(config)
    keys = _split_heads(graph, f"{name}.k", linear(graph, f"{name}.w_k", source), n_kv_heads, d_k)
    values = _split_heads(graph, f"{name}.v", linear(graph, f"{name}.w_v", source), n_kv_heads, d_v)
    return rotate(graph, f"{name}.rotated_k", keys, rotation), values


def attention(
    graph: Graph,
    name: str,
    x: str,
    keys: str,
    values: str,
    config: TransformerConfig,
    *,
    mask: str,
    bias: str | None = None,
    rotation: Rotation | None = None,
) -> str:
    """Multi-head attention of x (B, T, d_model) to keys and values: -> (B, T, d_model).

    Args:
        mask: bool, broadcasts to (B, H, T, S); True = may attend.
        bias: float, likewise; added to the scores.
        rotation: of the queries; that of the keys is done.
    """
    d_k, d_v, n_kv_heads = sizes(config)
    q = _split_heads(graph, f"{name}.q", linear(graph, f"{name}.w_q", x), config.n_heads, d_k)
    q = rotate(graph, f"{name}.rotated_q", q, rotation)  # (B, H, T, d_k)
    scale = graph.number(f"{name}.scale", 1 / math.sqrt(d_k))
    q = graph.add("Mul", f"{name}.scaled_q", q, scale)
    # Heads that share their keys stand one below the other, as more rows of one head: nothing is
    # copied, and the scores are then given their places again.
    shared = n_kv_heads != config.n_heads
    if shared:
        q = _reshape(graph, f"{name}.grouped_q", q, 0, n_kv_heads, -1, d_k)
    k = graph.add("Transpose", f"{name}.transposed_k", keys, perm=[0, 1, 3, 2])
    scores = graph.add("MatMul", f"{name}.scores", q, k)
    if shared:
        scores = _reshape(graph, f"{name}.scores_of_heads", scores, 0, config.n_heads, -1, 0)
    weights = _softmax(graph, name, scores, mask, bias)  # (B, H, T, S)
    if shared:
        weights = _reshape(graph, f"{name}.grouped_weights", weights, 0, n_kv_heads, -1, 0)
    context = graph.add("MatMul", f"{name}.context", weights, values)
    if shared:
        context = _reshape(graph, f"{name}.context_of_heads", context, 0, config.n_heads, -1, d_v)
    merged = graph.add("Transpose", f"{name}.swapped", context, perm=[0, 2, 1, 3])
    merged = _reshape(graph, f"{name}.merged", merged, 0, 0, config.n_heads * d_v)
    return linear(graph, f"{name}.w_o", merged)  # (B, T, d_model)


def _softmax(graph: Graph, name: str, scores: str, mask: str, bias: str | None) -> str:
    """Weights (B, H, T, S); a query that may attend to no key has zeros, as in both rooms."""
    if bias is not None:
        scores = graph.add("Add", f"{name}.biased_scores", scores, bias)
    lowest = graph.number(f"{name}.lowest", LOWEST)
    zero = graph.number(f"{name}.zero", 0.0)
    masked = graph.add("Where", f"{name}.masked_scores", mask, scores, lowest)
    even_if_empty = graph.add("Softmax", f"{name}.softmax", masked, axis=-1)
    return graph.add("Where", f"{name}.weights", mask, even_if_empty, zero)


def _split_heads(graph: Graph, name: str, x: str, n_heads: int, d: int) -> str:
    """(B, T, n_heads · d) -> (B, n_heads, T, d)."""
    heads = _reshape(graph, f"{name}.heads", x, 0, 0, n_heads, d)  # (B, T, n_heads, d)
    return graph.add("Transpose", name, heads, perm=[0, 2, 1, 3])


def _reshape(graph: Graph, name: str, x: str, *shape: int) -> str:
    """Reshape; in a shape of ONNX 0 stands for the length as it is, −1 for what is left."""
    return graph.add("Reshape", name, x, graph.integers(f"{name}.shape", *shape))
