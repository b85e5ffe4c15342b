"""The layers around attention as nodes of ONNX: linear, norm, Add & Norm, feed-forward, embedding.

Each function takes the graph, the name of the layer in the model and the name of its input, and
gives the name of its output.
"""

import math
from collections.abc import Callable

from qkv.config import TransformerConfig
from qkv.onnx.graph import Graph
from qkv.shapes.choices import APPROXIMATE

__all__ = [
    "add_norm",
    "embedding",
    "feed_forward_add_norm",
    "final_norm",
    "linear",
    "output_projection",
]


def linear(graph: Graph, name: str, x: str) -> str:
    """x weight + bias, where there is one: (..., d_in) -> (..., d_out)."""
    weight = graph.parameter(f"{name}.weight")  # (d_in, d_out)
    if f"{name}.bias" not in graph:
        return graph.add("MatMul", name, x, weight)
    product = graph.add("MatMul", f"{name}.product", x, weight)
    return graph.add("Add", name, product, graph.parameter(f"{name}.bias"))


def norm(graph: Graph, name: str, x: str, config: TransformerConfig) -> str:
    """Layer norm or RMS norm: (..., d_model) -> the same shape."""
    weight = graph.parameter(f"{name}.weight")
    if config.norm == "layer":
        inputs = [x, weight]
        if f"{name}.bias" in graph:
            inputs.append(graph.parameter(f"{name}.bias"))
        return graph.add("LayerNormalization", name, *inputs, axis=-1, epsilon=config.norm_eps)
    last = graph.integers(f"{name}.axis", -1)
    eps = graph.number(f"{name}.eps", float(config.norm_eps))
    square = graph.add("Mul", f"{name}.square", x, x)
    mean = graph.add("ReduceMean", f"{name}.mean", square, last)  # (..., 1)
    root = graph.add("Sqrt", f"{name}.root", graph.add("Add", f"{name}.mean_and_eps", mean, eps))
    return graph.add("Mul", name, graph.add("Div", f"{name}.normal", x, root), weight)


def add_norm(
    graph: Graph, name: str, x: str, sublayer: Callable[[str], str], config: TransformerConfig
) -> str:
    """Residual connection around a sub-layer: norm(x + f(x)), or in pre-norm x + f(norm(x))."""
    if config.norm_placement == "pre":
        return graph.add("Add", name, x, sublayer(norm(graph, f"{name}.norm", x, config)))
    return norm(graph, f"{name}.norm", graph.add("Add", name, x, sublayer(x)), config)


def final_norm(graph: Graph, name: str, x: str, config: TransformerConfig) -> str:
    """The norm at the end of a stack, where there is one."""
    return norm(graph, name, x, config) if config.ends_in_norm else x


def feed_forward(graph: Graph, name: str, x: str, config: TransformerConfig) -> str:
    """Up, activation, down: (..., d_model) -> the same shape."""
    hidden, activated = linear(graph, f"{name}.w_1", x), f"{name}.activated"  # (..., d_ff)
    if config.activation == "relu":
        graph.add("Relu", activated, hidden)
    elif config.activation == "swiglu":
        gate = linear(graph, f"{name}.w_gate", x)  # (..., d_ff)
        sigmoid = graph.add("Sigmoid", f"{name}.sigmoid", gate)
        graph.add("Mul", activated, graph.add("Mul", f"{name}.silu", gate, sigmoid), hidden)
    else:
        graph.add("Gelu", activated, hidden, approximate=APPROXIMATE[config.activation])
    return linear(graph, f"{name}.w_2", activated)


def feed_forward_add_norm(graph: Graph, name: str, x: str, config: TransformerConfig) -> str:
    """Feed-forward of the layer of this name, in Add & Norm."""
    return add_norm(
        graph,
        f"{name}.feed_forward_add_norm",
        x,
        lambda x: feed_forward(graph, f"{name}.feed_forward", x, config),
        config,
    )


def embedding(graph: Graph, name: str, ids: str, config: TransformerConfig) -> str:
    """table[ids] · √d_model: (B, T) -> (B, T, d_model); one table for both sides where tied."""
    table = "source_embedding" if config.tie == "all" else name
    rows = graph.add("Gather", f"{name}.rows", graph.parameter(f"{table}.weight"), ids)
    if not config.scale_embedding:
        return rows
    scale = graph.number(f"{name}.scale", math.sqrt(config.d_model))
    return graph.add("Mul", name, rows, scale)


def output_projection(graph: Graph, x: str, config: TransformerConfig) -> str:
    """Logits: (N, T, d_model) -> (N, T, V), by a table of embeddings where tied."""
    if config.tie == "none":
        return linear(graph, "output", x)
    table = "source_embedding" if config.tie == "all" else "target_embedding"
    weight = graph.add("Transpose", "output.weight", graph.parameter(f"{table}.weight"))
    logits = graph.add("MatMul", "output.product", x, weight)
    if not config.output_bias:
        return logits
    return graph.add("Add", "output", logits, graph.parameter("output.bias"))
