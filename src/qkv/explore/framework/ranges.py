"""The range in which each numeric axis may be typed off the grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from qkv.explore.framework.grid import Grid, format_value

Ranges: TypeAlias = dict[str, tuple[float, float]]


def validate_ranges(ranges: Mapping[str, tuple[float, float]], grid: Grid) -> Ranges:
    """(lowest, highest) of every axis of numbers, the ends of its grid where none is given."""
    grid_ends = {name: (min(v), max(v)) for name, v in grid.items() if is_numeric(v)}
    for name, (low, high) in ranges.items():
        if name not in grid_ends:
            raise ValueError(
                f"explore: ranges must name axes of numbers {list(grid_ends)}, got {name!r}: "
                "only those have a box to type into"
            )
        if not (low <= grid_ends[name][0] and grid_ends[name][1] <= high):
            raise ValueError(
                f"explore: ranges[{name!r}] must hold the grid from {grid_ends[name][0]} to "
                f"{grid_ends[name][1]}, got {(low, high)}: widen it"
            )
    return grid_ends | dict(ranges)


def is_numeric(values: Sequence[Any]) -> bool:
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)


def is_whole(values: Sequence[Any]) -> bool:
    return all(isinstance(value, int) for value in values)


def has_gap(values: Sequence[Any], low: float, high: float) -> bool:
    """Whether the range holds a value that the slider does not reach."""
    return not is_whole(values) or len(values) < high - low + 1


def range_error(
    values: Mapping[str, Any], ranges: Ranges, grid: Grid, labels: Mapping[str, str]
) -> str:
    """The error message for the first value outside its range, or ""."""
    for name, (low, high) in ranges.items():
        value, whole = values.get(name), is_whole(grid[name])
        allowed_types = int if whole else int | float
        if not isinstance(value, allowed_types) or not low <= value <= high:
            return labels["whole" if whole else "number"].format(
                axis=labels.get(name, name),
                low=format_value(low, labels),
                high=format_value(high, labels),
                value=format_value(value, labels),
            )
    return ""
