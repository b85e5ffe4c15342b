"""Sliders and rows of buttons (plain ipywidgets), linked in the browser to an Explorer's traits."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from qkv.explore.framework.ranges import is_numeric


def controls(view: widgets.DOMWidget) -> widgets.VBox:
    """A control for every axis of an Explorer, and the switch of its `follow`."""
    children = [control(view, axis) for axis in view.axes]
    if view.follow is not None:
        leader = view.follow["leader"]
        leaders = leader if isinstance(leader, str) else " and ".join(leader)
        key = f"{view.follow['axis']} follows {leaders}"
        children.append(switch(view, "following", view.labels.get(key, key)))
    box = widgets.VBox(children)
    box.add_class("qkv-controls")
    return box


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
