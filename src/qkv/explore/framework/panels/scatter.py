"""Labelled points or arrows in the plane, or several such pictures side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from qkv.explore.framework.panels.validation import (
    Floats,
    Spec,
    validate_array,
    validate_labels,
)

MOST_GROUPS = 4  # as many mark shapes as are told apart at a glance
SHAPE = "(n, 2) or (H, n, 2)"


@dataclass(frozen=True, eq=False)
class Scatter:
    """Labelled points on square axes of one scale, so that angles and distances are true.

    Args:
        points: (n, 2), or (H, n, 2) for H pictures side by side.
        labels: n labels, one for each point.
        names: H headings, where there are several pictures.
        groups: n names, at most 4 different ones: each has a mark and a colour of its own, those
            of "query", "key", "value" and "output" are the book's.
        start: where each point was before, of the shape of points; drawn hollow, with a thin line
            to where it is now.
        arrows: draw each point as an arrow from the origin.
        circle: draw the unit circle.
        limits: (lowest, highest) of both axes; by default the range over the whole grid, about 0
            where there are arrows or the circle.
        x_label: what x is.
        y_label: what y is.
    Raises:
        ValueError: shapes, labels, groups or limits do not fit, or a point is not finite.
    """

    points: ArrayLike
    labels: Sequence[object]
    names: Sequence[object] | None = None
    groups: Sequence[object] | None = None
    start: ArrayLike | None = None
    arrows: bool = False
    circle: bool = False
    limits: tuple[float, float] | None = None
    x_label: str = ""
    y_label: str = ""

    def __post_init__(self) -> None:
        points = validate_points("points", self.points)
        *pictures, n, _ = points.shape
        object.__setattr__(self, "points", points)
        labels = validate_labels("Scatter", "labels", self.labels, n, "point")
        object.__setattr__(self, "labels", labels)
        if bool(pictures) != (self.names is not None):
            raise ValueError(
                f"Scatter: names must head each of several pictures, got {self.names!r} for points "
                f"{points.shape}: pass H names with points (H, n, 2), none with (n, 2)"
            )
        if self.names is not None:
            names = validate_labels("Scatter", "names", self.names, pictures[0], "picture")
            object.__setattr__(self, "names", names)
        if self.groups is not None:
            groups = validate_labels("Scatter", "groups", self.groups, n, "point")
            if len(set(groups)) > MOST_GROUPS:
                raise ValueError(
                    f"Scatter: groups must be at most {MOST_GROUPS} different names, got "
                    f"{sorted(set(groups))}: join some"
                )
            object.__setattr__(self, "groups", groups)
        if self.start is not None:
            start = validate_points("start", self.start)
            if start.shape != points.shape:
                raise ValueError(
                    f"Scatter: start must have the shape of points {points.shape}, got "
                    f"{start.shape}: give every point an earlier place"
                )
            object.__setattr__(self, "start", start)
        if self.limits is not None and not self.limits[0] < self.limits[1]:
            raise ValueError(
                f"Scatter: limits must be (lowest, highest), got {self.limits}: turn them round"
            )

    def spec(self) -> Spec:
        return {
            "labels": self.labels,
            "names": self.names,
            "groups": self.groups,
            "arrows": self.arrows,
            "circle": self.circle,
            "limits": self.limits,
            "x_label": self.x_label,
            "y_label": self.y_label,
        }

    def arrays(self) -> list[Floats]:
        return [np.asarray(a) for a in (self.points, self.start) if a is not None]


def validate_points(name: str, values: ArrayLike) -> Floats:
    points = validate_array("Scatter", name, values, SHAPE, 2, 3)
    if points.shape[-1] != 2:
        raise ValueError(
            f"Scatter: {name} must be {SHAPE}, got {points.shape}: choose two coordinates, or "
            "project onto two"
        )
    if not np.all(np.isfinite(points)):
        raise ValueError(f"Scatter: {name} must be finite, got nan or inf: leave those points out")
    return points
