"""A figure of boxes and arrows, each of which can be pointed at."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from qkv.explore.framework.panels.box import Box, encloses, overlap, validate_box
from qkv.explore.framework.panels.validation import Floats, Spec, split_values


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

    Boxes with a link are links, each a tab stop of its own; the arrow keys then choose no part.

    Args:
        boxes: {name: Box}; names are for arrows alone, labels are what is seen.
        arrows: from box to box.
    Raises:
        ValueError: boxes overlap, a text is larger than its box, an arrow names no box, or a
            role, level, value or link is not one of those allowed.
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
            **({"hrefs": [b.link for b in boxes]} if any(b.link for b in boxes) else {}),
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
