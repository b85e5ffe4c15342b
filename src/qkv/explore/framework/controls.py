"""Sliders and rows of buttons (plain ipywidgets), linked in the browser to an Explorer's traits."""

from __future__ import annotations

from functools import reduce
from typing import Any

import ipywidgets as widgets

from qkv.explore.framework.ranges import is_numeric
from qkv.language import gettext


def controls(view: widgets.DOMWidget) -> widgets.VBox:
    """A control for every axis of an Explorer, and the switch of its `follow`."""
    children = [control(view, axis) for axis in view.axes]
    if view.follow is not None:
        children.append(switch(view, "following", follow_label(view)))
    box = widgets.VBox(children)
    box.add_class("qkv-controls")
    return box


def follow_label(view: widgets.DOMWidget) -> str:
    """What the switch says: the label of "d_k follows n_heads" in English, or that itself."""
    axis, leader = view.follow["axis"], view.follow["leader"]
    leaders = [leader] if isinstance(leader, str) else leader
    key = f"{axis} follows {' and '.join(leaders)}"
    named = reduce(
        lambda some, one: gettext("{some} and {one}").format(some=some, one=one), leaders
    )
    said = gettext("{axis} follows {leaders}").format(axis=axis, leaders=named)
    return str(view.labels.get(key, said))


def control(view: widgets.DOMWidget, axis: dict[str, Any]) -> widgets.DOMWidget:
    """A slider over an axis of numbers; a row of buttons, one of them pressed, for all else."""
    trait = f"i_{axis['name']}"
    kind = widgets.SelectionSlider if is_numeric(axis["values"]) else widgets.RadioButtons
    drawn = kind(
        options=list(zip(axis["texts"], axis["values"], strict=True)),
        index=getattr(view, trait),
        description=axis["label"],
    )
    widgets.jslink((drawn, "index"), (view, trait))
    return drawn


def switch(view: widgets.DOMWidget, trait: str, label: str) -> widgets.Checkbox:
    box = widgets.Checkbox(value=getattr(view, trait), description=label, indent=False)
    widgets.jslink((box, "value"), (view, trait))
    return box


def heading(text: str, kind: str) -> widgets.Label:
    label = widgets.Label(text)
    label.add_class(f"qkv-{kind}")
    return label
