"""The traits that JupyterLab leaves out when it saves widgets: those at their defaults."""

from __future__ import annotations

import copy
import functools
from typing import Any

from anywidget import AnyWidget
from ipywidgets import Widget

from qkv.notebooks.widget_state import JSON, STATE_MIME


def restore_defaults(notebook: JSON) -> JSON:
    """A copy of the notebook whose widget models name every trait, as a kernel stores them."""
    result = copy.deepcopy(notebook)
    stored = result["metadata"].get("widgets", {}).get(STATE_MIME, {"state": {}})
    for model in stored["state"].values():
        state = model["state"]
        for name, value in defaults().get(model["model_name"], {}).items():
            state.setdefault(name, copy.copy(value))
    return result


@functools.cache
def defaults() -> dict[str, dict[str, Any]]:
    """{name of a model: {trait: default}}; without traits that hold widgets, or nothing."""
    found: dict[str, dict[str, Any]] = {}
    kinds: list[Any] = [Widget, AnyWidget]
    for kind in kinds:  # a class before those made of it, whose models may have its name
        kinds += kind.__subclasses__()
        traits = kind.class_traits(sync=True)
        values = {name: plain(trait.default()) for name, trait in traits.items()}
        values = {name: value for name, value in values.items() if value is not None}
        found.setdefault(str(values.get("_model_name")), values)
    return found


def plain(value: Any) -> Any:
    """A default as JSON has it; None for a widget."""
    if isinstance(value, str | bool | int | float):
        return value
    return list(value) if isinstance(value, list | tuple) else None
