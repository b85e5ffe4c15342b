"""Sliders and tick boxes (plain ipywidgets), linked in the browser to an Explorer's traits."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from qkv.explore.framework.grid import is_boolean


def controls(view: widgets.DOMWidget) -> widgets.VBox:
    """A slider or tick box for every axis of an Explorer, and the switch of its `follow`."""
    children = [control(view, axis) for axis in view.axes]
    if view.follow is not None:
        key = f"{view.follow['axis']} follows {view.follow['leader']}"
        children.append(tick_box(view, "following", view.labels.get(key, key)))
    box = widgets.VBox(children)
    box.add_class("qkv-controls")
    return box


def control(view: widgets.DOMWidget, axis: dict[str, Any]) -> widgets.DOMWidget:
    """A slider over the values of one axis, or a tick box for [False, True]."""
    trait = f"i_{axis['name']}"
    if is_boolean(axis["values"]):
        return tick_box(view, trait, axis["label"])
    slider = widgets.SelectionSlider(
        options=list(zip(axis["texts"], axis["values"], strict=True)),
        index=getattr(view, trait),
        description=axis["label"],
    )
    widgets.jslink((slider, "index"), (view, trait))
    return slider


def tick_box(view: widgets.DOMWidget, trait: str, label: str) -> widgets.Checkbox:
    box = widgets.Checkbox(value=getattr(view, trait), description=label, indent=False)
    widgets.jslink((box, "value"), (view, trait))
    return box


def heading(text: str, kind: str) -> widgets.Label:
    label = widgets.Label(text)
    label.add_class(f"qkv-{kind}")
    return label
