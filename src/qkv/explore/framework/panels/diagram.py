"""A figure of boxes and arrows, each of which can be pointed at."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from qkv.explore.framework.panels.text_width import text_width
from qkv.explore.framework.panels.tree import split_values
from qkv.explore.framework.panels.validation import ROLES, Floats, Role, Spec, validate_choice

UNIT = 40  # px a unit of the grid is at least, on the smallest page
LINE = 15  # px a line of text is high
PADDING = 6  # px between a text and its box, left and right


@dataclass(frozen=True)
class Box:
    """One box of a Diagram. A box that lies around others is a frame behind them.

    Args:
        label: what stands in it; a line break is "\\n".
        x: its left side, in units of the grid from the left; a unit is 40 px or more.
        y: its top, in units from the top.
        width: in units.
        height: in units; one unit holds two lines of text.
        detail: what the readout says of it.
        value: a number or a text under the label; a slider may change it.
        role: whose colour it has: "query", "key", "value", "output" or None for ink.
        level: 0..1, how dark it is filled, such as its share of all parameters.
    """

    label: str
    x: float
    y: float
    width: float = 1
    height: float = 1
    detail: str = ""
    value: float | str | None = None
    role: Role | None = None
    level: float | None = None


@dataclass(frozen=True)
class Arrow:
    """One arrow of a Diagram, from box to box.

    Args:
        start: name of the box it leaves.
        end: name of the box it enters.
        label: what stands beside it, such as a shape.
        detail: what the readout says of it.
        via: points (x, y) of the grid that it passes, where a straight line would not do.
    """

    start: str
    end: str
    label: str = ""
    detail: str = ""
    via: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True, eq=False)
class Diagram:
    """Boxes on a grid and arrows between them; the readout says what the chosen part is.

    Args:
        boxes: {name: Box}; names are for arrows alone, labels are what is seen.
        arrows: from box to box.
    Raises:
        ValueError: boxes overlap, a text is larger than its box, an arrow names no box, or a
            role, level or value is not one of those allowed.
    """

    boxes: Mapping[str, Box]
    arrows: Sequence[Arrow] = field(default=())

    def __post_init__(self) -> None:
        if not self.boxes:
            raise ValueError("Diagram: boxes must hold at least one box, got none")
        split_values("Diagram", {f"boxes[{name!r}]": box.value for name, box in self.boxes.items()})
        for name, box in self.boxes.items():
            validate_box(name, box, self.is_frame(name))
        for one, two in itertools.combinations(self.boxes, 2):
            first, second = self.boxes[one], self.boxes[two]
            if overlap(first, second) and not (encloses(first, second) or encloses(second, first)):
                raise ValueError(
                    f"Diagram: boxes must not overlap, got {one!r} and {two!r}: move one, or put "
                    "one wholly inside the other"
                )
        for arrow in self.arrows:
            for end in (arrow.start, arrow.end):
                if end not in self.boxes:
                    raise ValueError(
                        f"Diagram: an arrow must join boxes {list(self.boxes)}, got {end!r}: "
                        "name a box, or add it"
                    )

    def is_frame(self, name: str) -> bool:
        """Whether other boxes lie inside this one."""
        return any(encloses(self.boxes[name], box) for box in self.boxes.values())

    def spec(self) -> Spec:
        boxes, names = list(self.boxes.values()), list(self.boxes)
        return {
            "names": names,
            "boxes": [(b.x, b.y, b.width, b.height, b.role) for b in boxes],
            "frames": [self.is_frame(name) for name in names],
            "arrows": [
                (names.index(a.start), names.index(a.end), [list(point) for point in a.via])
                for a in self.arrows
            ],
            "labels": [b.label for b in boxes],
        }

    def strings(self) -> dict[str, list[str | None]]:
        """The texts that a slider may change while boxes and arrows stay where they are."""
        _, texts = split_values("Diagram", {n: box.value for n, box in self.boxes.items()})
        details = [b.detail for b in self.boxes.values()] + [a.detail for a in self.arrows]
        return {
            "box_texts": list(texts),
            "arrow_labels": [arrow.label for arrow in self.arrows],
            "details": [*details],
        }

    def arrays(self) -> list[Floats]:
        numbers, _ = split_values("Diagram", {n: box.value for n, box in self.boxes.items()})
        levels = [np.nan if box.level is None else box.level for box in self.boxes.values()]
        return [numbers, np.array(levels, dtype=np.float64)]


def validate_box(name: str, box: Box, frame: bool) -> None:
    where = f"boxes[{name!r}]"
    validate_choice("Diagram", f"{where}.role", box.role, (None, *ROLES))
    if box.width <= 0 or box.height <= 0 or box.x < 0 or box.y < 0:
        raise ValueError(
            f"Diagram: {where} must lie at x, y ≥ 0 and have a size, got x={box.x}, y={box.y}, "
            f"width={box.width}, height={box.height}: move or widen it"
        )
    if box.level is not None and not 0 <= box.level <= 1:
        raise ValueError(
            f"Diagram: {where}.level must lie in 0..1, got {box.level}: divide by the largest"
        )
    if frame and box.value is not None:
        raise ValueError(
            f"Diagram: {where} lies around other boxes and must have no value, got "
            f"{box.value!r}: say it in its label or detail"
        )
    lines = box.label.split("\n")
    if isinstance(box.value, str):
        lines.append(box.value)
    elif box.value is not None:
        lines.append(as_written(float(box.value)))
    needed = max(map(text_width, lines)) + 2 * PADDING, len(lines) * LINE + PADDING
    for size, units, pixels in zip(
        ("width", "height"), (box.width, box.height), needed, strict=True
    ):
        if pixels > units * UNIT and not (frame and size == "height"):
            raise ValueError(
                f"Diagram: {where} must hold its text {' / '.join(lines)!r}, got {size} {units:g}: "
                f"give it {size} {np.ceil(pixels / UNIT * 10) / 10:g}, or break or shorten the text"
            )


def as_written(value: float) -> str:
    """About as many characters as diagram.js writes."""
    if value.is_integer() and abs(value) < 1e7:
        return f"{value:,.0f}"
    return f"{value:.4g}" if value == 0 or 1e-4 <= abs(value) < 1e6 else "0.00×10⁰⁰"


def overlap(one: Box, two: Box) -> bool:
    return (
        one.x < two.x + two.width
        and two.x < one.x + one.width
        and one.y < two.y + two.height
        and two.y < one.y + one.height
    )


def encloses(outer: Box, inner: Box) -> bool:
    return (
        (outer.x, outer.y, outer.width, outer.height)
        != (inner.x, inner.y, inner.width, inner.height)
        and outer.x <= inner.x
        and outer.y <= inner.y
        and outer.x + outer.width >= inner.x + inner.width
        and outer.y + outer.height >= inner.y + inner.height
    )
