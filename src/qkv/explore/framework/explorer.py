"""`explore(fn, ...)`: controls over a pure Python function, working with and without a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from qkv.explore.framework.bundle import es_module, style_sheet
from qkv.explore.framework.controls import controls, heading
from qkv.explore.framework.frames import Frames
from qkv.explore.framework.grid import (
    Follow,
    Function,
    Grid,
    compute_frames,
    format_value,
    validate_follow,
    validate_grid,
    validate_start,
)
from qkv.explore.framework.labels import default_labels
from qkv.explore.framework.ranges import Ranges, has_gap, range_error, validate_ranges
from qkv.language import get_language, using_language


class Explorer(anywidget.AnyWidget):
    """Widget that carries the panels of every grid point, and draws those of the current one."""

    _esm = es_module()
    _css = style_sheet()
    title = traitlets.Unicode().tag(sync=True)
    source = traitlets.Unicode().tag(sync=True)  # module:function, for the tests that call it again
    # Each with name, label, values, texts, and a range where more than the values can be typed.
    axes: traitlets.List[Any] = traitlets.List().tag(sync=True)
    labels = traitlets.Dict().tag(sync=True)
    follow = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    following = traitlets.Bool(False).tag(sync=True)
    frames_layout = traitlets.Dict().tag(sync=True)  # Frames.layout()
    frames = traitlets.Bytes(b"").tag(sync=True)

    def __init__(
        self,
        fn: Function,
        grid: Grid,
        ranges: Ranges,
        start: Mapping[str, Any],
        computed: Frames,
        **traits: Any,
    ) -> None:
        self._fn, self._grid, self._ranges = fn, grid, ranges
        # A message of a page comes in a context of its own, which knows of no set_language.
        self._language = get_language()
        # One trait an axis holds the place of its value; jslink binds a control to each.
        self.add_traits(**{f"i_{name}": traitlets.Int().tag(sync=True) for name in grid})
        super().__init__(
            source=f"{fn.__module__}:{getattr(fn, '__qualname__', '')}",
            frames_layout=computed.layout(),
            frames=bytes(computed.data),
            **{f"i_{name}": values.index(start[name]) for name, values in grid.items()},
            **traits,
        )
        self.on_msg(self._answer)

    def __repr__(self) -> str:
        """Without an address: nbval compares it."""
        grid = ", ".join(f"{name}={values!r}" for name, values in self._grid.items())
        return f"Explorer({self.title!r}, {grid})"

    def _answer(self, _: object, message: dict[str, Any], __: object) -> None:
        """Answer a page's request for values off the grid; only a page with a kernel makes any."""
        if message.get("type") == "hello":
            self.send({"type": "alive"})
        if message.get("type") != "compute":
            return
        request = {"request": message["request"], "values": message["values"]}
        if text := range_error(message["values"], self._ranges, self._grid, self.labels):
            self.send({"type": "error", "text": text, **request})
            return
        try:
            frame = Frames()
            with using_language(self._language):
                frame.add(self._fn(**message["values"]))
        except Exception as error:  # shown to the reader: in a log it would help nobody
            self.send({"type": "error", "text": f"{type(error).__name__}: {error}", **request})
            return
        self.send({"type": "frame", "layout": frame.layout(), **request}, [bytes(frame.data)])


class ExplorerBox(widgets.VBox):  # type: ignore[misc]
    """VBox of title, hint, controls and picture."""

    explorer: Any  # the widget that draws; it has `title` and `labels`

    def __repr__(self) -> str:
        """The text in place of the widgets: in JupyterLab before any run, and on code hosts."""
        return str(self.explorer.labels["unrun"]).format(title=self.explorer.title)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """With the whole text: ipywidgets cuts it off at 110 characters."""
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
    """A control for every axis of the grid, and a picture of what `fn` returns there.

    `fn` is called at every grid point when the cell runs, and the results travel with the page:
    the controls need no kernel. With one, values off the grid are computed when asked for.

    Args:
        fn: pure; takes one keyword for each axis, returns {name: panel or text}.
        title: what the explorer is called, to the eye and to a screen reader.
        hint: one line, what to try first.
        labels: words for axes, panels and controls, where they differ from DEFAULT_LABELS.
        start: the opening state; axes not named here open at their first value.
        follow: (axis, leader, {leader's value: axis's value}) adds a switch, off at first; with
            several leaders, (axis, (leader, …), {(value, …): axis's value}).
        ranges: {axis: (lowest, highest)} that may be typed off the grid, both included; by
            default the ends of the grid. Give no more than a reader's machine computes at once.
        grid: name=values; numbers become a slider, strings and booleans a row of buttons.
    Returns:
        A VBox of plain ipywidgets controls, linked in the browser to one Explorer.
    Raises:
        ValueError: the grid, the opening state, the rule or the panels do not fit together.
    """
    values = validate_grid(grid)
    allowed = validate_ranges(ranges or {}, values)
    opening, rule = validate_start(start or {}, values), validate_follow(follow, values)
    computed = compute_frames(fn, values)
    all_labels = default_labels([*values, *computed.names()]) | dict(labels or {})
    view = Explorer(
        fn,
        values,
        allowed,
        opening,
        computed,
        title=title,
        labels=all_labels,
        follow=rule,
        axes=[
            {
                "name": name,
                "label": all_labels.get(name, name),
                "values": choices,
                "texts": [format_value(value, all_labels) for value in choices],
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
