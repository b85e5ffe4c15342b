"""The scripts and styles of stored widgets, which chapters leave out, and JupyterLab draws by."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from qkv.notebooks.widget_state import (
    EXPLORER_ID,
    JSON,
    PLACEHOLDER_MODULE,
    PLAYGROUND_ID,
    STATE_MIME,
)


def with_front_end(get: Callable[..., Any]) -> Callable[..., Any]:
    """A contents manager's `get` whose notebooks have what draws their widgets without a kernel.

    Args:
        get: returns a model of the contents, or something to await that does.
    """

    def get_filled(*args: Any, **options: Any) -> Any:
        model = get(*args, **options)
        return later(model) if inspect.isawaitable(model) else filled(model)

    async def later(model: Any) -> Any:
        return filled(await model)

    return get_filled


def filled(model: Any) -> Any:
    """The model itself; where it is a notebook with its content, that has the front end."""
    if model.get("type") == "notebook" and model.get("content"):
        fill_front_end(model["content"])
    return model


def fill_front_end(notebook: JSON) -> None:
    """Put the scripts and styles of our widgets where a chapter has stubs."""
    stored = notebook["metadata"].get("widgets", {}).get(STATE_MIME, {"state": {}})
    stubs = [
        widget["state"]
        for widget in stored["state"].values()
        if widget["state"].get("_esm") == PLACEHOLDER_MODULE
    ]
    if not stubs:
        return
    # Here, so that a Jupyter that opens no chapter starts as fast.
    from qkv.explore.framework import bundle as explorer
    from qkv.explore.playground import bundle as playground

    front_ends = {
        EXPLORER_ID: lambda: (explorer.es_module(), explorer.style_sheet()),
        PLAYGROUND_ID: lambda: (playground.es_module(), playground.whole_style_sheet()),
    }
    for state in stubs:
        if front_end := front_ends.get(state.get("_anywidget_id")):
            state["_esm"], state["_css"] = front_end()
