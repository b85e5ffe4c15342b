"""The front-end text of saved widgets, by which JupyterLab draws them without a kernel."""

from __future__ import annotations

from typing import Any

from qkv.explore.framework.widget_state import JSON, PLACEHOLDER_MODULE, STATE_MIME

FRONT_END = ("_esm", "_css")


def restore_front_end(notebook: JSON, saved: JSON) -> JSON:
    """The notebook itself, its widgets with the scripts and styles that they have in `saved`."""
    texts: dict[str, dict[str, Any]] = {}
    for state in states(saved):
        if state.get("_esm", PLACEHOLDER_MODULE) != PLACEHOLDER_MODULE:
            texts[state["_anywidget_id"]] = {k: state[k] for k in FRONT_END if k in state}
    for state in states(notebook):
        state.update(texts.get(state.get("_anywidget_id", ""), {}))
    return notebook


def states(notebook: JSON) -> list[JSON]:
    """The state of every stored widget."""
    stored = notebook["metadata"].get("widgets", {}).get(STATE_MIME, {"state": {}})
    return [model["state"] for model in stored["state"].values()]
