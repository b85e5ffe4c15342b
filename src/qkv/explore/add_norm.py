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
from qkv.language import gettext

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


def deep_stack(*, depth: int, weights: str) -> Panels:
    """Gradient size, size of the vectors and difference between tokens of all placements.

    Args:
        depth: how many sub-layers stand one after another.
        weights: one of STARTS.
    """
    found = {way: signals(way, depth, weights) for way in PLACEMENTS}
    layers = np.arange(depth + 1)
    gradients = {gettext(way): _power(run.gradients[::-1]) for way, run in found.items()}
    sizes = {gettext(way): _power(run.sizes) for way, run in found.items()}
    differences = {gettext(way): _power(run.differences) for way, run in found.items()}
    return {
        "differences": Lines(layers, differences, gettext("sub-layer")),
        "gradient": Lines(layers, gradients, gettext("sub-layers on the way back")),
        "size": Lines(layers, sizes, gettext("sub-layer")),
        "summary": Table(
            (
                gettext("stack"),
                gettext("difference at the end"),
                gettext("gradient at the start"),
            ),
            tuple(
                (gettext(way), short(run.differences[-1]), short(run.gradients[0]))
                for way, run in found.items()
            ),
        ),
    }


def _power(values: Array) -> Array:
    """log₁₀, cut at ±EDGE, so that one line does not flatten all others."""
    with np.errstate(divide="ignore"):
        clipped: Array = np.clip(np.log10(values), -EDGE, EDGE)
    return clipped


def short(value: float) -> str:
    """Two digits: 1.9, 140, 2.9e12; "too large" for what overflows."""
    if not np.isfinite(value):
        return gettext("too large")
    if value == 0 or 1e-3 <= value < 1e5:
        return f"{float(f'{value:.1e}'):g}"
    digits, _, power = f"{value:.1e}".partition("e")
    return f"{digits}e{int(power)}"
