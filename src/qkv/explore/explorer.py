"""explore(fn, ...): sliders over one pure Python function, alive with and without a kernel."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import anywidget
import ipywidgets as widgets
import traitlets

from qkv.explore.frames import Frames, same_panels
from qkv.explore.panels import Panels

Function: TypeAlias = Callable[..., Panels]
Grid: TypeAlias = dict[str, list[Any]]
Follow: TypeAlias = tuple[str, str, Mapping[Any, Any]]

HERE = Path(__file__).parent
# In the order a reader would meet them; the page and JupyterLab get them as one module.
MODULES = ("explore",)
WORDS = {
    "n_heads": "heads",
    "d_k follows n_heads": "d_k follows d_model / heads",
    "yes": "yes",
    "no": "no",
    "head": "head",
    "allowed": "may attend",
    "blocked": "blocked",
    "largest": "largest",
    "at": "at",
    "rows": "rows",
    "columns": "columns",
    "arrows": "arrow keys read the cells",
    "kernel": "Off the grid, computed by the kernel",
    "computed": "computed by the kernel at",
}


def module() -> str:
    """The drawing code as one ES module: local imports dropped, one default export at the end."""
    kept = []
    for name in MODULES:
        for line in (HERE / f"{name}.js").read_text(encoding="utf-8").splitlines():
            if not line.startswith("import "):
                kept.append(line.removeprefix("export ") if "default" not in line else line)
    return "\n".join(kept) + "\n"


class Explorer(anywidget.AnyWidget):
    """Carries the panels of every grid point and draws those of the current one."""

    _esm = module()
    _css = (HERE / "explore.css").read_text(encoding="utf-8")
    title = traitlets.Unicode().tag(sync=True)
    source = traitlets.Unicode().tag(sync=True)  # module:function, for the tests that call it again
    axes: traitlets.List[Any] = traitlets.List().tag(sync=True)  # describe_axis() of each
    words = traitlets.Dict().tag(sync=True)
    follow = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    following = traitlets.Bool(False).tag(sync=True)
    layout_of = traitlets.Dict().tag(sync=True)  # Frames.layout()
    frames = traitlets.Bytes(b"").tag(sync=True)

    def __init__(self, fn: Function, grid: Grid, start: Mapping[str, Any], **traits: Any) -> None:
        self._fn, self._grid = fn, grid
        places = {axis(name): values.index(start[name]) for name, values in grid.items()}
        self.add_traits(
            **{
                axis(name): (traitlets.Bool() if is_switch(values) else traitlets.Int()).tag(
                    sync=True
                )
                for name, values in grid.items()
            }
        )
        packed = frames(fn, grid)
        super().__init__(
            source=f"{fn.__module__}:{getattr(fn, '__qualname__', '')}",
            layout_of=packed.layout(),
            frames=bytes(packed.data),
            **places,
            **traits,
        )
        self.on_msg(self._answer)

    def __repr__(self) -> str:
        """No address: nbval compares it."""
        grid = ", ".join(f"{name}={values!r}" for name, values in self._grid.items())
        return f"Explorer({self.title!r}, {grid})"

    def _answer(self, _: object, message: dict[str, Any], __: object) -> None:
        """Only a page with a kernel behind it ever gets here."""
        if message.get("type") == "hello":
            self.send({"type": "alive"})
        if message.get("type") != "compute":
            return
        try:
            packed = Frames()
            packed.add(self._fn(**message["values"]))
        except Exception as error:  # the reader sees it; losing it in a log would help nobody
            text = f"{type(error).__name__}: {error}"
            self.send({"type": "error", "request": message["request"], "text": text})
            return
        answer = {"type": "frame", "request": message["request"], "layout": packed.layout()}
        self.send(answer, [bytes(packed.data)])


class ExplorerBox(widgets.VBox):  # type: ignore[misc]
    """Title, hint, controls and picture, under a repr that does not change."""

    explorer: Explorer

    def __repr__(self) -> str:
        return repr(self.explorer)


def explore(
    fn: Function,
    *,
    title: str,
    hint: str,
    labels: Mapping[str, str] | None = None,
    start: Mapping[str, Any] | None = None,
    follow: Follow | None = None,
    **grid: Iterable[Any],
) -> widgets.VBox:
    """Sliders for every value of the grid, and a picture of `fn` there.

    `fn` is called at every grid point when the cell runs; the results travel with the page, so
    the sliders work without a kernel. With one, values off the grid are computed on demand.

    Args:
        fn: pure; takes one keyword for each axis, returns {name: panel or text}.
        title: what the explorer is called, to the eye and to a screen reader.
        hint: one line, what to try first.
        labels: the words shown for axes, panels and the controls, where they differ from WORDS.
        start: the opening state; axes not named here open at their first value.
        follow: (axis, leader, {leader's value: axis's value}) adds a switch, off at first.
        grid: name=values; [False, True] becomes a tick box, all else a slider.
    Returns:
        A VBox of plain ipywidgets controls, linked in the browser to one Explorer.
    Raises:
        ValueError: the grid, the opening state or the panels do not fit together.
    """
    values = checked_grid(grid)
    opening = {name: choices[0] for name, choices in values.items()} | dict(start or {})
    for name, value in opening.items():
        if value not in values.get(name, []):
            known = values.get(name, list(values))
            raise ValueError(
                f"explore: start[{name!r}] must be one of {known}, got {value!r}: "
                "open at a point of the grid, or add it to the grid"
            )
    said = {**WORDS, **(labels or {})}
    view = Explorer(
        fn,
        values,
        opening,
        title=title,
        words=said,
        axes=[describe_axis(name, choices, said) for name, choices in values.items()],
        follow=checked_follow(follow, values),
    )
    controls = [control(view, name, choices, said) for name, choices in values.items()]
    if follow is not None:
        controls.append(follow_switch(view, follow, said))
    box = ExplorerBox([heading(title, "title"), heading(hint, "hint"), group(controls), view])
    box.add_class("qkv-explore")
    box.explorer = view
    return box


def axis(name: str) -> str:
    """The trait that holds the index of an axis's current value."""
    return f"i_{name}"


def is_switch(values: Sequence[Any]) -> bool:
    return list(values) == [False, True] and isinstance(values[0], bool)


def checked_grid(grid: Mapping[str, Iterable[Any]]) -> Grid:
    """Every axis as a list of two or more distinct plain values."""
    if not grid:
        raise ValueError("explore: at least one axis is needed, got none: pass d_k=[1, 2, 4]")
    lists = {name: [plain(value) for value in values] for name, values in grid.items()}
    for name, values in lists.items():
        if len(values) < 2 or len(set(map(repr, values))) < len(values):
            raise ValueError(
                f"explore: {name} must hold two or more distinct values, got {values}: "
                "a slider with one place cannot move; give fn a default instead"
            )
        if all(isinstance(v, bool) for v in values):
            lists[name] = [False, True]
    return lists


def plain(value: Any) -> Any:
    """NumPy scalars as Python's own, because the grid travels as JSON."""
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, bool | int | float | str):
        raise ValueError(
            f"explore: grid values must be numbers, strings or booleans, got {value!r}: "
            "use its name on the grid and look it up in fn"
        )
    return value


def checked_follow(follow: Follow | None, grid: Grid) -> dict[str, Any] | None:
    """The switch's rule as indices: follower[place of leader] = place of follower."""
    if follow is None:
        return None
    follower, leader, rule = follow
    for name in (follower, leader):
        if name not in grid:
            raise ValueError(f"explore: follow names {name!r}, which is not on the grid {[*grid]}")
    missing = [v for v in grid[leader] if v not in rule or rule[v] not in grid[follower]]
    if missing:
        raise ValueError(
            f"explore: follow must give a value of {follower} = {grid[follower]} for each "
            f"{leader}, got {dict(rule)}: mend the rule at {leader} = {missing}"
        )
    places = [grid[follower].index(rule[value]) for value in grid[leader]]
    return {"axis": follower, "leader": leader, "places": places}


def frames(fn: Function, grid: Grid) -> Frames:
    """Call `fn` at every grid point, last axis fastest."""
    packed = Frames()
    first: Panels | None = None
    for point in itertools.product(*grid.values()):
        values = dict(zip(grid, point, strict=True))
        panels = fn(**values)
        if not isinstance(panels, Mapping) or not panels:
            raise ValueError(
                f"explore: fn must return {{name: panel or text}}, got {panels!r} at {values}"
            )
        first = panels if first is None else first
        if not same_panels(first, panels):
            raise ValueError(
                f"explore: fn must return the same panels everywhere, {list(first)} at first, got "
                f"{list(panels)} at {values}: return every panel at every point, in one order"
            )
        packed.add(panels)
    return packed


def describe_axis(name: str, values: Sequence[Any], said: Mapping[str, str]) -> dict[str, Any]:
    texts = [text(value, said) for value in values]
    return {"name": name, "label": said.get(name, name), "values": list(values), "texts": texts}


def text(value: Any, said: Mapping[str, str]) -> str:
    if isinstance(value, bool):
        return said["yes"] if value else said["no"]
    return f"{value:g}".replace("-", "−") if isinstance(value, float) else str(value)


def control(
    view: Explorer, name: str, values: Sequence[Any], said: Mapping[str, str]
) -> widgets.DOMWidget:
    label, place = said.get(name, name), int(getattr(view, axis(name)))
    if is_switch(values):
        box = widgets.Checkbox(value=bool(place), description=label, indent=False)
        widgets.jslink((box, "value"), (view, axis(name)))
        return box
    options = [(text(value, said), value) for value in values]
    slider = widgets.SelectionSlider(options=options, index=place, description=label)
    widgets.jslink((slider, "index"), (view, axis(name)))
    return slider


def follow_switch(view: Explorer, follow: Follow, said: Mapping[str, str]) -> widgets.DOMWidget:
    key = f"{follow[0]} follows {follow[1]}"
    switch = widgets.Checkbox(value=False, description=said.get(key, key), indent=False)
    widgets.jslink((switch, "value"), (view, "following"))
    return switch


def heading(words: str, kind: str) -> widgets.DOMWidget:
    label = widgets.Label(words)
    label.add_class(f"qkv-{kind}")
    return label


def group(controls: Sequence[widgets.DOMWidget]) -> widgets.DOMWidget:
    box = widgets.VBox(controls)
    box.add_class("qkv-controls")
    return box
