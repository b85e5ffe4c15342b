"""The grid of an explorer's values: validated, formatted, and evaluated at every point."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from qkv.explore.framework.frames import Frames, same_panels
from qkv.explore.framework.labels import shown_value
from qkv.explore.framework.panels import Panels

Function: TypeAlias = Callable[..., Panels]
Grid: TypeAlias = dict[str, list[Any]]
Follow: TypeAlias = tuple[str, str | tuple[str, ...], Mapping[Any, Any]]


def validate_grid(grid: Mapping[str, Iterable[Any]]) -> Grid:
    """Every axis as a list of two or more distinct plain values."""
    if not grid:
        raise ValueError("explore: at least one axis is needed, got none: pass d_k=[1, 2, 4]")
    lists = {
        name: [as_plain_value(name, value) for value in values] for name, values in grid.items()
    }
    for name, values in lists.items():
        if len(values) < 2 or len(set(map(repr, values))) < len(values):
            raise ValueError(
                f"explore: {name} must hold two or more distinct values, got {values}: "
                "a control with one place cannot move; give fn a default instead"
            )
        if all(isinstance(value, bool) for value in values):
            lists[name] = [False, True]
    return lists


def as_plain_value(name: str, value: Any) -> Any:
    """A value as plain Python, NumPy scalars converted: the grid travels as JSON."""
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, bool | int | float | str):
        raise ValueError(
            f"explore: {name} must hold numbers, strings or booleans, got {value!r}: "
            "put its name on the grid and look it up in fn"
        )
    return value


def validate_start(start: Mapping[str, Any], grid: Grid) -> dict[str, Any]:
    """The opening value of every axis, the first where none is named."""
    for name, value in start.items():
        allowed = grid.get(name, [])
        if value not in allowed:
            raise ValueError(
                f"explore: start[{name!r}] must be one of {allowed or list(grid)}, got {value!r}: "
                "open at a point of the grid, or add it to the grid"
            )
    return {name: values[0] for name, values in grid.items()} | dict(start)


def validate_follow(follow: Follow | None, grid: Grid) -> dict[str, Any] | None:
    """The rule of `follow` by index: places[index of the leader] = index of the axis.

    With several leaders there is one index for each: places[i][j] for the first two.
    """
    if follow is None:
        return None
    name, leader, rule = follow
    leaders = (leader,) if isinstance(leader, str) else leader
    for axis in (name, *leaders):
        if axis not in grid:
            raise ValueError(
                f"explore: follow must name axes of the grid {list(grid)}, got {axis!r}: "
                "add the axis, or leave follow out"
            )
    points = list(itertools.product(*(grid[axis] for axis in leaders)))
    keys = [point[0] if isinstance(leader, str) else point for point in points]
    unmatched = [key for key in keys if key not in rule or rule[key] not in grid[name]]
    if unmatched:
        raise ValueError(
            f"explore: follow must give a {name} of {grid[name]} for each {' and '.join(leaders)}, "
            f"got {dict(rule)}: mend it for {' and '.join(leaders)} = {unmatched}"
        )
    places: list[Any] = [grid[name].index(rule[key]) for key in keys]
    for axis in leaders[:0:-1]:  # the last leader's index is the innermost
        size = len(grid[axis])
        places = [places[i : i + size] for i in range(0, len(places), size)]
    named = leader if isinstance(leader, str) else list(leader)
    return {"axis": name, "leader": named, "places": places}


def grid_points(grid: Grid) -> Iterable[dict[str, Any]]:
    """Every point of the grid, last axis fastest."""
    for point in itertools.product(*grid.values()):
        yield dict(zip(grid, point, strict=True))


def compute_frames(fn: Function, grid: Grid) -> Frames:
    """Call `fn` at every grid point and serialize what it returns."""
    frames = Frames()
    first: Panels | None = None
    for values in grid_points(grid):
        panels = fn(**values)
        if not isinstance(panels, Mapping) or not panels:
            raise ValueError(
                f"explore: fn must return {{name: panel or text}}, got {panels!r} at {values}: "
                'return a dict such as {"weights": Heatmap(...)}'
            )
        first = panels if first is None else first
        if not same_panels(first, panels):
            raise ValueError(
                f"explore: fn must return the same panels at every point, {list(first)} first, "
                f"got {list(panels)} at {values}: keep their names, kinds and order"
            )
        frames.add(panels)
    return frames


def format_value(value: Any, labels: Mapping[str, str]) -> str:
    """A grid value as the reader sees it."""
    if isinstance(value, bool):
        return labels["yes"] if value else labels["no"]
    if isinstance(value, str):
        return shown_value(value, labels)
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text.replace("-", "−")
