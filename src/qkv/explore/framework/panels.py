"""What an explorer can draw: heatmaps, bars, lines and tables, validated when they are created."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Role: TypeAlias = Literal["query", "key", "value", "output"]
COLOUR_SCALES = ("weights", "scores", "mask")
ROLES = ("query", "key", "value", "output")


def validate_array(call: str, name: str, values: ArrayLike, shape: str, *ndims: int) -> Floats:
    """`values` as float64 with one of the given numbers of axes, none of length 0."""
    array = np.asarray(values)
    if array.dtype.kind not in "bif":
        raise ValueError(
            f"{call}: {name} must be real numbers of shape {shape}, got {array.dtype}: "
            "convert to a NumPy array of floats first"
        )
    if array.ndim not in ndims or 0 in array.shape:
        raise ValueError(
            f"{call}: {name} must be {shape}, got {array.shape}: "
            "drop the batch axis, or index the part to show"
        )
    return array.astype(np.float64)


def validate_labels(
    call: str, name: str, labels: Sequence[object], length: int, what: str
) -> tuple[str, ...]:
    """`labels` as a tuple of `length` strings."""
    if isinstance(labels, str) or len(labels) != length:
        raise ValueError(
            f"{call}: {name} must hold {length} labels, one for each {what}, "
            f"got {labels!r}: pass the tokens in order"
        )
    return tuple(str(label) for label in labels)


def validate_choice(call: str, name: str, value: object, allowed: Sequence[object]) -> None:
    """Refuse a value that is not one of those allowed."""
    if value not in allowed:
        raise ValueError(f"{call}: {name} must be one of {list(allowed)}, got {value!r}")


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


@dataclass(frozen=True, eq=False)
class Bars:
    """One bar for each of n values, labelled below and above.

    Args:
        values: (n,).
        labels: n labels.
        limits: (lowest, highest) of the scale; by default the range over the whole grid and 0.
        role: whose colour the bars take: "query", "key", "value", "output" or None for ink.
    Raises:
        ValueError: shapes, labels or role do not fit.
    """

    values: ArrayLike
    labels: Sequence[object]
    limits: tuple[float, float] | None = None
    role: Role | None = None

    def __post_init__(self) -> None:
        values = validate_array("Bars", "values", self.values, "(n,)", 1)
        validate_choice("Bars", "role", self.role, (None, *ROLES))
        object.__setattr__(self, "values", values)
        labels = validate_labels("Bars", "labels", self.labels, len(values), "bar")
        object.__setattr__(self, "labels", labels)


@dataclass(frozen=True, eq=False)
class Lines:
    """Curves over one x axis, each labelled at its end.

    Args:
        x: (n,), increasing.
        ys: {label: (n,)}.
        x_label: what x is.
        y_label: what the curves measure.
        log_x: logarithmic x axis; x must be positive.
        log_y: logarithmic y axis; values that are not positive leave a gap.
        mark: x of a vertical line, usually the slider's own value.
    Raises:
        ValueError: lengths differ, x does not increase, or there is no curve.
    """

    x: ArrayLike
    ys: Mapping[str, ArrayLike]
    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False
    mark: float | None = field(default=None)

    def __post_init__(self) -> None:
        x = validate_array("Lines", "x", self.x, "(n,)", 1)
        if np.any(np.diff(x) <= 0) or not np.all(np.isfinite(x)):
            raise ValueError(f"Lines: x must be finite and increase, got {x.tolist()}: sort it")
        if self.log_x and x[0] <= 0:
            raise ValueError(f"Lines: log_x needs positive x, got {x[0]:g} first: drop it")
        if not self.ys:
            raise ValueError("Lines: ys must hold at least one curve, got none")
        ys = {
            str(k): validate_array("Lines", f"ys[{k!r}]", y, "(n,)", 1) for k, y in self.ys.items()
        }
        for label, y in ys.items():
            if y.shape != x.shape:
                raise ValueError(
                    f"Lines: ys[{label!r}] must be (n,) = {x.shape}, got {y.shape}: "
                    "compute it at every x"
                )
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "ys", ys)


@dataclass(frozen=True, eq=False)
class Table:
    """A table of text that Python has formatted.

    Args:
        header: m column heads.
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


Panel: TypeAlias = Heatmap | Bars | Lines | Table
Panels: TypeAlias = Mapping[str, Panel | str]
