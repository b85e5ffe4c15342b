"""Explorer of the chapter on positions: pairs of an encoding as angles, similarity by distance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.explore.framework.panels import Heatmap, Lines, Panels, Scatter
from qkv.language import gettext

Array = np.ndarray[Any, Any]

WIDTHS = (4, 8, 16)
POSITIONS = 17  # 0 to 16


def encoding(*, d_model: int, position: int) -> Panels:
    """Sinusoidal encoding of the first positions, and what it says of one of them.

    Args:
        d_model: the width of a position's vector, even.
        position: the one that is looked at: its row, its hands, its similarity to all others.
    """
    rows: Array = qn.sinusoidal_encoding(POSITIONS, d_model, dtype=np.float64)  # (T, d_model)
    columns = [f"{'sin' if j % 2 == 0 else 'cos'} {j // 2}" for j in range(d_model)]
    cosines = rows @ rows[position] / (d_model / 2)  # (T,)
    return {
        "hands": Scatter(
            rows[position].reshape(-1, 1, 2),  # (pairs, 1, 2): x is the sine, y the cosine
            [gettext("hand")],
            names=[f"{i}: λ = {wavelength(d_model, i):,.0f}" for i in range(d_model // 2)],
            arrows=True,
            circle=True,
            limits=(-1.1, 1.1),
        ),
        "similarity": Lines(
            range(POSITIONS),
            {gettext("dot product"): cosines},
            x_label=gettext("other position"),
            y_label=gettext("PE of p · PE of other, divided by d_model / 2"),
            mark=position,
        ),
        "encoding": Heatmap(
            rows,
            range(POSITIONS),
            columns,
            colours="scores",
            highlight_row=position,
            limits=(-1, 1),
        ),
    }


def wavelength(d_model: int, pair: int) -> float:
    """How many positions the hand of a pair of columns needs for one turn."""
    return float(2 * math.pi * 10000 ** (2 * pair / d_model))
