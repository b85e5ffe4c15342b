"""Helpers of the exercises on long texts: the state of online softmax, right and without rescaling.

A state is (peak, total, mix): the highest score, Σ exp(score − peak), Σ exp(score − peak) value.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import as_array, reject

Array: TypeAlias = np.ndarray[Any, Any]
State: TypeAlias = tuple[Array, Array, Array]


def state_of(scores: Array, values: Array) -> State:
    """The state (T,), (T,), (T, d_v) of scores (T, S) and values (S, d_v)."""
    peak = scores.max(axis=1)  # (T,)
    weights = np.exp(scores - peak[:, None])  # (T, S)
    return peak, weights.sum(axis=1), weights @ values


def output(scores: Array, values: Array) -> float:
    """Softmax over all keys at once: scores (S,), values (S,)."""
    _, total, mix = state_of(scores[None], values[:, None])
    return float(mix[0, 0] / total[0])


def tiled_output(scores: Array, values: Array, rescale: bool) -> float:
    """The same in tiles of two keys; wrong where a higher peak shrinks no earlier sum."""
    peak, total, mix = -np.inf, 0.0, 0.0
    for start in range(0, len(scores), 2):
        tile = slice(start, start + 2)
        higher = max(peak, float(scores[tile].max()))
        shrink = float(np.exp(peak - higher)) if rescale else 1.0
        weights = np.exp(scores[tile] - higher)
        total = total * shrink + float(weights.sum())
        mix = mix * shrink + float(weights @ values[tile])
        peak = higher
    return mix / total


def read_state(answer: object, like: State) -> State:
    """The reader's state, of the shapes of another one, or `WrongAnswer`."""
    parts = list(answer) if isinstance(answer, list | tuple) else []
    reject(
        len(parts) != 3,
        "Three things were asked for: peak, total and mix.",
        "End in return peak, total, mix.",
    )
    peak, total, mix = (
        as_array(part, shape=x.shape).astype(float) for part, x in zip(parts, like, strict=True)
    )
    return peak, total, mix
