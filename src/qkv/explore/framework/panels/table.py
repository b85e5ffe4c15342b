"""Rows of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qkv.explore.framework.panels.validation import Floats, Spec, validate_labels


@dataclass(frozen=True, eq=False)
class Table:
    """A table of text that Python has formatted.

    Args:
        header: m column heads; under an empty one stand the heads of the rows.
        rows: each a list of m cells.
    Raises:
        ValueError: a row of another length.
    """

    header: Sequence[object]
    rows: Sequence[Sequence[object]]

    def __post_init__(self) -> None:
        header = validate_labels("Table", "header", self.header, len(self.header), "column")
        rows = tuple(
            validate_labels("Table", "a row", row, len(header), "column") for row in self.rows
        )
        object.__setattr__(self, "header", header)
        object.__setattr__(self, "rows", rows)

    def spec(self) -> Spec:
        return {"header": self.header, "rows": self.rows}

    def arrays(self) -> list[Floats]:
        return []
