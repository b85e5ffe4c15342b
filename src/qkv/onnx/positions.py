"""Positions as nodes of ONNX: rows of a table that are added, rotations, or a bias for the scores.

Waves and angles are computed here, by the NumPy room, and stand in the file as tables of `max_len`
rows. A longer text is refused by the runtime, which finds no such row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import qkv.numpy as qn
from qkv.config import TransformerConfig
from qkv.onnx.graph import DTYPES, Graph

__all__ = [
    "Rotation",
    "add_positions",
    "alibi_bias",
    "causal_mask",
    "length_of",
    "position_range",
    "rotate",
    "rotation",
]


class Rotation(NamedTuple):
    """What queries and keys are turned by, as names of values.

    Args:
        cos, sin: (T, d_k), each number once for either entry of a pair.
        quarter_turn: (d_k, d_k), a matrix that turns each pair by a right angle.
    """

    cos: str
    sin: str
    quarter_turn: str


def length_of(graph: Graph, name: str, value: str, axis: int) -> str:
    """The length of an axis, as a number."""
    shape = graph.add("Shape", f"{name}.axis", value, start=axis, end=axis + 1)  # (1,)
    return graph.add("Squeeze", name, shape)


def position_range(graph: Graph, name: str, end: str, start: str | None = None) -> str:
    """The positions (end − start,) from a start, or from 0, up to an end."""
    zero, one = graph.number(f"{name}.zero", 0), graph.number(f"{name}.one", 1)
    return graph.add("Range", name, zero if start is None else start, end, one)


def add_positions(
    graph: Graph, name: str, x: str, positions: str, config: TransformerConfig, max_len: int
) -> str:
    """Add the table's rows, sinusoidal or learned, to (B, T, d_model)."""
    if config.positions == "learned":
        table = graph.parameter(f"{name}.positions.weight")  # (max_len, d_model)
    elif config.positions == "sinusoidal":
        waves = qn.sinusoidal_encoding(max_len, config.d_model, layout=config.layout)
        table = graph.constant(f"{name}.waves", waves)  # (max_len, d_model)
    else:
        return x
    rows = graph.add("Gather", f"{name}.rows", table, positions)  # (T, d_model)
    return graph.add("Add", name, x, rows)


def rotation(
    graph: Graph, name: str, positions: str, config: TransformerConfig, max_len: int, d_k: int
) -> Rotation | None:
    """Cosines and sines of a rotary model's angles at these positions; None for other models."""
    if config.positions != "rotary":
        return None
    waves = qn.sinusoidal_encoding(max_len, d_k)  # (max_len, d_k): sin and cos of pair after pair
    sin, cos = (waves[:, first::2].repeat(2, 1) for first in (0, 1))  # (max_len, d_k)
    quarter_turn = np.kron(np.eye(d_k // 2), [[0, 1], [-1, 0]]).astype(np.float32)  # (d_k, d_k)
    return Rotation(
        graph.add("Gather", f"{name}.cos", graph.constant(f"{name}.cosines", cos), positions),
        graph.add("Gather", f"{name}.sin", graph.constant(f"{name}.sines", sin), positions),
        graph.constant(f"{name}.quarter_turn", quarter_turn),
    )


def rotate(graph: Graph, name: str, x: str, by: Rotation | None) -> str:
    """Rotate each pair of queries or keys (B, H, T, d_k): x · cos + (x a quarter further) · sin."""
    if by is None:
        return x
    ahead = graph.add("MatMul", f"{name}.quarter_turn", x, by.quarter_turn)  # (B, H, T, d_k)
    along = graph.add("Mul", f"{name}.cos", x, by.cos)
    return graph.add("Add", name, along, graph.add("Mul", f"{name}.sin", ahead, by.sin))


def causal_mask(graph: Graph, name: str, queries: str, keys: str) -> str:
    """Causal mask (T, S) of positions (T,) and (S,): True where a key is not after the query."""
    return graph.add("LessOrEqual", name, *_row_and_column(graph, name, keys, queries))


def alibi_bias(
    graph: Graph, name: str, queries: str, keys: str, config: TransformerConfig
) -> str | None:
    """ALiBi bias (H, T, S) of positions (T,) and (S,): −slope · |query − key|; or None."""
    if config.positions != "alibi":
        return None
    slopes = qn.alibi_slopes(config.n_heads).reshape(-1, 1, 1)  # (H, 1, 1)
    difference = graph.add(
        "Sub", f"{name}.difference", *_row_and_column(graph, name, keys, queries)
    )  # (T, S)
    distance = graph.add("Abs", f"{name}.distance", difference)
    as_float = graph.add("Cast", f"{name}.as_float", distance, to=DTYPES["float32"])
    return graph.add("Mul", name, as_float, graph.constant(f"{name}.slopes", -slopes))


def _row_and_column(graph: Graph, name: str, keys: str, queries: str) -> tuple[str, str]:
    """Keys as a row (1, S), queries as a column (T, 1)."""
    zero, one = graph.integers(f"{name}.first", 0), graph.integers(f"{name}.last", 1)
    row = graph.add("Unsqueeze", f"{name}.key_row", keys, zero)
    return row, graph.add("Unsqueeze", f"{name}.query_column", queries, one)
