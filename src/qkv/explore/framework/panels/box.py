"""One box of a diagram: where it stands, what it says, whether the text fits."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from qkv.explore.framework.panels.text_width import text_width
from qkv.explore.framework.panels.validation import ROLES, Role, validate_choice

UNIT = 40  # px a unit of the grid is at least, on the smallest page
LINE = 15  # px a line of text is high
PADDING = 6  # px between a text and its box, left and right
CHAPTER = re.compile(r"\d\d_[a-z_]+")


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
        link: the chapter that it opens, such as "03_attention"; no frame has one.
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
    link: str | None = None


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
    if box.link is not None and (frame or not CHAPTER.fullmatch(box.link)):
        raise ValueError(
            f"Diagram: {where}.link must be the name of a chapter's notebook, such as "
            f"'03_attention', of a box that lies around no other, got {box.link!r}: leave out "
            "folder and ending, and link the boxes inside"
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
