"""Explorer of the chapter on Add & Norm: sizes and gradients in a deep stack before training."""

from __future__ import annotations

import numpy as np

from qkv.explore.add_norm_stacks import (
    PLACEMENTS,
    STARTS,
    SUBLAYERS,
    Array,
    Signals,
    medians,
    signals,
)
from qkv.explore.framework.panels import Lines, Panels, Table

__all__ = [
    "EDGE",
    "PLACEMENTS",
    "STARTS",
    "SUBLAYERS",
    "Signals",
    "deep_stack",
    "medians",
    "short",
    "signals",
]

EDGE = 6.0  # powers of ten at which the explorer's lines are cut


def deep_stack(*, placement: str, depth: int, weights: str) -> Panels:
    """Gradient norm, size of the vectors and difference between tokens, by sub-layer.

    Args:
        placement: one of PLACEMENTS.
        depth: how many sub-layers stand one after another.
        weights: one of STARTS.
    """
    found = signals(placement, depth, weights)
    layers = np.arange(depth + 1)
    return {
        "gradient": Lines(layers[1:], {placement: _power(found.gradients)}, "sub-layer"),
        "size": Lines(layers, {placement: _power(found.sizes)}, "sub-layer"),
        "differences": Lines(layers, {placement: _power(found.differences)}, "sub-layer"),
        "summary": Table(
            ("", "first sub-layer", "last sub-layer"),
            (
                ("gradient norm", *map(short, found.gradients[[0, -1]])),
                ("size of the vectors", *map(short, found.sizes[[1, -1]])),
                ("difference between tokens", *map(short, found.differences[[1, -1]])),
            ),
        ),
    }


def _power(values: Array) -> Array:
    """log₁₀, cut at ±EDGE, so that one line does not flatten all others."""
    with np.errstate(divide="ignore"):
        clipped: Array = np.clip(np.log10(values), -EDGE, EDGE)
    return clipped


def short(value: float) -> str:
    """Two digits: 1.9, 140, 2.9e+12."""
    return f"{float(f'{value:.1e}'):g}" if value == 0 or 1e-3 <= value < 1e5 else f"{value:.1e}"
