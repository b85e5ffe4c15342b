"""Key-value caches as inputs and outputs of ONNX: two values for each layer of the decoder."""

from qkv.config import TransformerConfig
from qkv.onnx.attention import sizes
from qkv.onnx.graph import Graph

__all__ = ["ROLES", "cache_inputs", "cache_outputs"]

ROLES = ("keys", "values")


def cache_inputs(
    graph: Graph, prefix: str, layer: int, length: str, config: TransformerConfig
) -> tuple[str, str]:
    """Keys and values of a layer that the decoder is given."""
    keys, values = (
        graph.input(f"{prefix}{role}.{layer}", "float32", shape)
        for role, shape in zip(ROLES, _shapes(config, "N", length), strict=True)
    )
    return keys, values


def cache_outputs(
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
