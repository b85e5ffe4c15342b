"""How far off its grid an explorer may be asked: a range for every axis of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from qkv.explore.grid import Grid, text

Ranges: TypeAlias = dict[str, tuple[float, float]]


def checked_ranges(ranges: Mapping[str, tuple[float, float]], grid: Grid) -> Ranges:
    """(lowest, highest) of every axis of numbers, the ends of its grid where none is given."""
    found = {name: (min(v), max(v)) for name, v in grid.items() if is_numeric(v)}
    for name, (low, high) in ranges.items():
        if name not in found:
            raise ValueError(
                f"explore: ranges must name axes of numbers {list(found)}, got {name!r}: "
                "only those have a box to type into"
            )
        if not (low <= found[name][0] and found[name][1] <= high):
            raise ValueError(
                f"explore: ranges[{name!r}] must hold the grid from {found[name][0]} to "
                f"{found[name][1]}, got {(low, high)}: widen it"
            )
    return found | dict(ranges)


def is_numeric(values: Sequence[Any]) -> bool:
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)


def is_whole(values: Sequence[Any]) -> bool:
    return all(isinstance(value, int) for value in values)


def has_gap(values: Sequence[Any], low: float, high: float) -> bool:
    """Whether the range holds a value that the slider does not reach."""
    return not is_whole(values) or len(values) < high - low + 1


def refusal(asked: Mapping[str, Any], ranges: Ranges, grid: Grid, said: Mapping[str, str]) -> str:
    """A sentence about the first value that lies outside its range, or ""."""
    for name, (low, high) in ranges.items():
        value, whole = asked.get(name), is_whole(grid[name])
        kinds = int if whole else int | float
        if not isinstance(value, kinds) or not low <= value <= high:
            return said["whole" if whole else "number"].format(
                axis=said.get(name, name),
                low=text(low, said),
                high=text(high, said),
                value=text(value, said),
            )
    return ""
