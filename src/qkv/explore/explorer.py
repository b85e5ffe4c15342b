"""explore(fn, ...): sliders over one pure Python function, alive with and without a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from qkv.explore.bundle import module, sheet
from qkv.explore.controls import controls, heading
from qkv.explore.frames import Frames
from qkv.explore.grid import (
    Follow,
    Function,
    Grid,
    checked_follow,
    checked_grid,
    checked_start,
    frames,
    is_switch,
    text,
)
from qkv.explore.ranges import Ranges, checked_ranges, has_gap, refusal

# Every word the reader sees that is neither a title nor a panel's own; labels= replaces them.
WORDS = {
    "n_heads": "heads",
    "d_k follows n_heads": "d_k follows d_model / heads",
    "yes": "yes",
    "no": "no",
    "head": "head",
    "allowed": "may attend",
    "blocked": "blocked",
    "largest": "largest",
    "kernel": "Off the grid: the kernel computes it",
    "computed": "Computed by the kernel at",
    "whole": "{axis} takes whole numbers from {low} to {high}, not {value}.",
    "number": "{axis} takes numbers from {low} to {high}, not {value}.",
    "beyond": "beyond the axis",
    "unrun": "Sliders, “{title}”: run this cell in Jupyter to move them. "
    "In the book they move at once.",
}


class Explorer(anywidget.AnyWidget):
    """Carries the panels of every grid point, and draws those of the current one."""

    _esm = module()
    _css = sheet()
    title = traitlets.Unicode().tag(sync=True)
    source = traitlets.Unicode().tag(sync=True)  # module:function, for the tests that call it again
    # Each with name, label, values, texts, and a range where there is more than the values.
    axes: traitlets.List[Any] = traitlets.List().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    follow = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    following = traitlets.Bool(False).tag(sync=True)
    layout_of = traitlets.Dict().tag(sync=True)  # Frames.layout()
    frames = traitlets.Bytes(b"").tag(sync=True)

    def __init__(
        self, fn: Function, grid: Grid, ranges: Ranges, start: Mapping[str, Any], **traits: Any
    ) -> None:
        self._fn, self._grid, self._ranges = fn, grid, ranges
        packed = frames(fn, grid)
        # One trait an axis holds the place of its value; jslink binds a control to each.
        kinds = {name: traitlets.Bool if is_switch(grid[name]) else traitlets.Int for name in grid}
        self.add_traits(**{f"i_{name}": kind().tag(sync=True) for name, kind in kinds.items()})
        super().__init__(
            source=f"{fn.__module__}:{getattr(fn, '__qualname__', '')}",
            layout_of=packed.layout(),
            frames=bytes(packed.data),
            **{f"i_{name}": values.index(start[name]) for name, values in grid.items()},
            **traits,
        )
        self.on_msg(self._answer)

    def __repr__(self) -> str:
        """No address: nbval compares it."""
        grid = ", ".join(f"{name}={values!r}" for name, values in self._grid.items())
        return f"Explorer({self.title!r}, {grid})"

    def _answer(self, _: object, message: dict[str, Any], __: object) -> None:
        """Only a page with a kernel behind it ever asks."""
        if message.get("type") == "hello":
            self.send({"type": "alive"})
        if message.get("type") != "compute":
            return
        asked = {"request": message["request"], "values": message["values"]}
        if refused := refusal(message["values"], self._ranges, self._grid, self.words):
            self.send({"type": "error", "text": refused, **asked})
            return
        try:
            packed = Frames()
            packed.add(self._fn(**message["values"]))
        except Exception as error:  # shown to the reader: in a log it would help nobody
            self.send({"type": "error", "text": f"{type(error).__name__}: {error}", **asked})
            return
        self.send({"type": "frame", "layout": packed.layout(), **asked}, [bytes(packed.data)])


class ExplorerBox(widgets.VBox):  # type: ignore[misc]
    """Title, hint, controls and picture."""

    explorer: Explorer

    def __repr__(self) -> str:
        """What is read in their place: in JupyterLab before any run, and on code hosts."""
        return str(self.explorer.words["unrun"]).format(title=self.explorer.title)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """ipywidgets cuts a text off at 110 characters; a sentence is read to its end."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)
        return {**bundle, "text/plain": repr(self)}


def explore(
    fn: Function,
    *,
    title: str,
    hint: str,
    labels: Mapping[str, str] | None = None,
    start: Mapping[str, Any] | None = None,
    follow: Follow | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    **grid: Iterable[Any],
) -> ExplorerBox:
    """Sliders for every value of the grid, and a picture of what `fn` returns there.

    `fn` is called at every grid point when the cell runs, and the results travel with the page:
    the sliders need no kernel. With one, values off the grid are computed when asked for.

    Args:
        fn: pure; takes one keyword for each axis, returns {name: panel or text}.
        title: what the explorer is called, to the eye and to a screen reader.
        hint: one line, what to try first.
        labels: words for axes, panels and controls, where they differ from WORDS.
        start: the opening state; axes not named here open at their first value.
        follow: (axis, leader, {leader's value: axis's value}) adds a switch, off at first.
        ranges: {axis: (lowest, highest)} that may be typed off the grid, both included; by
            default the ends of the grid. Give no more than a reader's machine computes at once.
        grid: name=values; [False, True] becomes a tick box, all else a slider.
    Returns:
        A VBox of plain ipywidgets controls, linked in the browser to one Explorer.
    Raises:
        ValueError: the grid, the opening state, the rule or the panels do not fit together.
    """
    values = checked_grid(grid)
    said = {**WORDS, **(labels or {})}
    allowed = checked_ranges(ranges or {}, values)
    view = Explorer(
        fn,
        values,
        allowed,
        checked_start(start or {}, values),
        title=title,
        words=said,
        follow=checked_follow(follow, values),
        axes=[
            {
                "name": name,
                "label": said.get(name, name),
                "values": choices,
                "texts": [text(value, said) for value in choices],
                **(
                    {"range": list(allowed[name])}
                    if name in allowed and has_gap(choices, *allowed[name])
                    else {}
                ),
            }
            for name, choices in values.items()
        ],
    )
    box = ExplorerBox([heading(title, "title"), heading(hint, "hint"), controls(view), view])
    box.add_class("qkv-explore")
    box.explorer = view
    return box
