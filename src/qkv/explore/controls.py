"""Plain ipywidgets controls, linked in the browser to an Explorer's places on its axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from qkv.explore.grid import is_switch

if TYPE_CHECKING:
    from qkv.explore.explorer import Explorer


def controls(view: Explorer) -> widgets.VBox:
    """A slider or tick box for every axis, and the switch of `follow` if there is one."""
    made = [control(view, axis) for axis in view.axes]
    if view.follow is not None:
        key = f"{view.follow['axis']} follows {view.follow['leader']}"
        made.append(tick_box(view, "following", view.words.get(key, key)))
    box = widgets.VBox(made)
    box.add_class("qkv-controls")
    return box


def control(view: Explorer, axis: dict[str, Any]) -> widgets.DOMWidget:
    trait = f"i_{axis['name']}"
    if is_switch(axis["values"]):
        return tick_box(view, trait, axis["label"])
    slider = widgets.SelectionSlider(
        options=list(zip(axis["texts"], axis["values"], strict=True)),
        index=getattr(view, trait),
        description=axis["label"],
    )
    widgets.jslink((slider, "index"), (view, trait))
    return slider


def tick_box(view: Explorer, trait: str, label: str) -> widgets.Checkbox:
    box = widgets.Checkbox(value=getattr(view, trait), description=label, indent=False)
    widgets.jslink((box, "value"), (view, trait))
    return box


def heading(words: str, kind: str) -> widgets.Label:
    label = widgets.Label(words)
    label.add_class(f"qkv-{kind}")
    return label
