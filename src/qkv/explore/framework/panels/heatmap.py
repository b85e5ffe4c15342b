"""A matrix as cells, or several of them side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from qkv.explore.framework.panels.validation import (
    Floats,
    Spec,
    validate_array,
    validate_choice,
    validate_labels,
)

COLOUR_SCALES = ("weights", "scores", "mask")


@dataclass(frozen=True, eq=False)
class Heatmap:
    """A matrix of cells, or H of them side by side.

    Args:
        values: (n, m) or (H, n, m). weights lie in 0..1; scores diverge about 0 and may be
            -inf; a mask is boolean, True = may attend.
        rows: n labels, usually the query tokens.
        columns: m labels, usually the key tokens.
        colours: "weights", "scores" or "mask".
        highlight_row: the row that stays outlined, such as the chosen query.
        limits: (lowest, highest) of the colour scale; weights take 0..1, scores the
            largest magnitude of the whole grid.
    Raises:
        ValueError: shapes, labels or colours do not fit.
    """

    values: ArrayLike
    rows: Sequence[object]
    columns: Sequence[object]
    colours: Literal["weights", "scores", "mask"] = "weights"
    highlight_row: int | None = None
    limits: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        values = validate_array("Heatmap", "values", self.values, "(n, m) or (H, n, m)", 2, 3)
        *_, n, m = values.shape
        validate_choice("Heatmap", "colours", self.colours, COLOUR_SCALES)
        if self.highlight_row is not None:
            validate_choice("Heatmap", "highlight_row", self.highlight_row, range(n))
        object.__setattr__(self, "values", values)
        rows = validate_labels("Heatmap", "rows", self.rows, n, "row")
        columns = validate_labels("Heatmap", "columns", self.columns, m, "column")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "columns", columns)

    def spec(self) -> Spec:
        return {
            "rows": self.rows,
            "columns": self.columns,
            "colours": self.colours,
            "highlight_row": self.highlight_row,
            "limits": self.limits,
        }

    def arrays(self) -> list[Floats]:
        return [np.asarray(self.values)]
