"""Serialize the panels of a whole grid: arrays as float16 in one block of bytes, the rest as JSON.

A panel becomes a *spec* (its labels and shapes, JSON) and *arrays*. Equal specs and equal arrays
are stored once, so a panel that ignores a slider costs nothing for that slider's values. Texts that
a slider changes are numbered, and only their numbers are an array of each grid point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from qkv.explore.framework.panels import Diagram, Floats, Lines, Panel, Panels, Spec, Tree

HALF_MAX = 65504.0  # the largest finite float16


def split_panel(name: str, panel: Panel | str) -> tuple[Spec, list[Floats]]:
    """The panel's spec and the arrays that go with it, in the order the page reads them."""
    spec: Spec = {"name": name, "kind": kind_of(panel)}
    if isinstance(panel, str):
        return {**spec, "text": panel}, []
    arrays = panel.arrays()
    spec |= panel.spec()
    spec["arrays"] = [
        {"shape": list(a.shape), "dtype": dtype_of(panel, a, i)} for i, a in enumerate(arrays)
    ]
    return {key: value for key, value in spec.items() if value is not None}, arrays


def dtype_of(panel: Panel, array: Floats, index: int) -> str:
    """float16, or float32 for what float16 would turn into something else: 4001, 1e-9, -1e9."""
    is_x = isinstance(panel, Lines) and index == 0
    log_y = isinstance(panel, Lines) and panel.log_y
    read_to_the_digit = isinstance(panel, Tree | Diagram)
    too_large = bool(np.any(np.abs(array[np.isfinite(array)]) > HALF_MAX))
    return "f4" if is_x or log_y or read_to_the_digit or too_large else "f2"


def kind_of(panel: object) -> str:
    """The kind of a panel, by which the JavaScript knows it."""
    if isinstance(panel, str):
        return "text"
    if isinstance(panel, Panel):
        return type(panel).__name__.lower()
    kinds = ", ".join(kind.__name__ for kind in get_args(Panel))
    raise ValueError(
        f"explore: fn must return panels ({kinds}) or text, got "
        f"{type(panel).__name__}: wrap it, for example Bars(values, labels)"
    )


def as_bytes(array: Floats, dtype: str) -> bytes:
    """The array's bytes, little-endian on every machine: JavaScript reads them so."""
    return array.astype(f"<{dtype}").tobytes()


@dataclass
class Frames:
    """The serialized panels of every grid point, in grid order (last axis fastest)."""

    specs: list[Spec] = field(default_factory=list)
    points: list[list[list[int]]] = field(default_factory=list)  # [[spec, offset, offset...], ...]
    ranges: dict[str, list[float]] = field(default_factory=dict)  # panel -> [lowest, highest]
    data: bytearray = field(default_factory=bytearray)
    strings: list[str | None] = field(default_factory=list)
    _positions: dict[object, int] = field(default_factory=dict, repr=False)

    def add(self, panels: Panels) -> None:
        """Append one grid point."""
        point = []
        for name, panel in panels.items():
            spec, arrays = split_panel(name, panel)
            buffers = [
                as_bytes(array, entry["dtype"])
                for array, entry in zip(arrays, spec.get("arrays", []), strict=True)
            ]
            if isinstance(panel, Diagram):
                buffers += self._number_strings(spec, panel.strings())
            point.append([self._spec_index(spec), *map(self._offset, buffers)])
            if isinstance(panel, Lines):
                arrays = [y[y > 0] if panel.log_y else y for y in arrays[1:]]
            self._update_range(name, arrays)
        self.points.append(point)

    def _number_strings(self, spec: Spec, lists: Mapping[str, list[str | None]]) -> list[bytes]:
        """Name the lists in the spec; their arrays are the places of their texts in `strings`."""
        spec["strings"] = list(lists)
        spec["arrays"] += [{"shape": [len(texts)], "dtype": "u2"} for texts in lists.values()]
        return [
            np.array([self._string_index(text) for text in texts], dtype="<u2").tobytes()
            for texts in lists.values()
        ]

    def _string_index(self, text: str | None) -> int:
        if ("string", text) not in self._positions:
            self._positions["string", text] = len(self.strings)
            self.strings.append(text)
        return self._positions["string", text]

    def _spec_index(self, spec: Spec) -> int:
        key = repr(spec)
        if key not in self._positions:
            self._positions[key] = len(self.specs)
            self.specs.append(spec)
        return self._positions[key]

    def _offset(self, buffer: bytes) -> int:
        if buffer not in self._positions:
            self._positions[buffer] = len(self.data)
            self.data += buffer
        return self._positions[buffer]

    def _update_range(self, name: str, arrays: list[Floats]) -> None:
        """Widen the panel's range: one for the whole grid, so scales stay put as sliders move."""
        finite = [a[np.isfinite(a)] for a in arrays]
        values = np.concatenate([a.ravel() for a in finite]) if finite else np.empty(0)
        if values.size:
            low, high = self.ranges.get(name, [np.inf, -np.inf])
            self.ranges[name] = [min(low, float(values.min())), max(high, float(values.max()))]

    def names(self) -> list[str]:
        """The names of the panels, each once."""
        return list(dict.fromkeys(spec["name"] for spec in self.specs))

    def layout(self) -> dict[str, Any]:
        """The JSON that goes with `data`: specs, points, ranges, and strings if there are any."""
        layout = {"specs": self.specs, "points": self.points, "ranges": self.ranges}
        return layout | ({"strings": self.strings} if self.strings else {})


def unpack(
    layout: Mapping[str, Any], data: bytes, point: int
) -> dict[str, tuple[Spec, list[NDArray[Any]]]]:
    """{name: (spec, arrays)} of one grid point, read as the page reads it."""
    panels = {}
    for index, *offsets in layout["points"][point]:
        spec = layout["specs"][index]
        arrays = [
            np.frombuffer(
                data, dtype=f"<{entry['dtype']}", count=math.prod(entry["shape"]), offset=offset
            ).reshape(entry["shape"])
            for entry, offset in zip(spec.get("arrays", []), offsets, strict=True)
        ]
        names = spec.get("strings", [])
        places = arrays[len(arrays) - len(names) :]
        texts = [[layout["strings"][place] for place in list_] for list_ in places]
        arrays = arrays[: len(arrays) - len(names)]
        panels[spec["name"]] = ({**spec, **dict(zip(names, texts, strict=True))}, arrays)
    return panels


def same_panels(first: Mapping[str, object], second: Mapping[str, object]) -> bool:
    """Whether two grid points show the same panels, in the same order and of the same kinds."""
    same_names = list(first) == list(second)
    return same_names and [kind_of(p) for p in first.values()] == [
        kind_of(p) for p in second.values()
    ]
