"""The widget state in a notebook's metadata: normalized ids and order, without front-end code."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

JSON: TypeAlias = dict[str, Any]
STATE_MIME = "application/vnd.jupyter.widget-state+json"
VIEW_MIME = "application/vnd.jupyter.widget-view+json"
REFERENCE = re.compile(r'"IPY_MODEL_([^"]+)"')
EXPLORER_ID = "qkv.explore.framework.explorer.Explorer"
PLAYGROUND_ID = "qkv.explore.playground.widget.Playground"
# The book loads the drawing module once for all pages. In JupyterLab a stored explorer has no
# module to draw with until its cell has run, so it says so.
PLACEHOLDER_MODULE = (
    "export default { render: ({ el }) => el.append('Run this cell to draw the picture.') };"
)


def normalize_notebook(notebook: JSON) -> JSON:
    """A copy of the notebook whose widget ids count up in reading order.

    Running it on its own result changes nothing.

    Args:
        notebook: parsed .ipynb, as a dict or a NotebookNode.
    Returns:
        The same with `metadata.widgets` and every widget view's `model_id` rewritten.
    """
    result = copy.deepcopy(notebook)
    views = list(widget_views(result))
    stored = result["metadata"].get("widgets", {}).get(STATE_MIME)
    if not stored:
        return result
    names = renumber(stored["state"], [view["model_id"] for view in views])
    result["metadata"]["widgets"] = {STATE_MIME: normalize_state(stored, names)}
    for view in views:
        view["model_id"] = names.get(view["model_id"], view["model_id"])
    return result


def widget_views(notebook: JSON) -> Iterable[JSON]:
    """Every widget view among the outputs, in reading order."""
    for cell in notebook["cells"]:
        yield from views_of(cell)


def views_of(cell: JSON) -> Iterable[JSON]:
    """The widget views among the outputs of one cell."""
    for output in cell.get("outputs", []):
        if VIEW_MIME in output.get("data", {}):
            yield output["data"][VIEW_MIME]


def cells_without_state(notebook: JSON) -> list[str]:
    """The ids of the cells that show a widget whose state is not stored: no page can draw it."""
    stored = notebook["metadata"].get("widgets", {}).get(STATE_MIME, {"state": {}})["state"]
    return [
        cell["id"]
        for cell in notebook["cells"]
        if any(view["model_id"] not in stored for view in views_of(cell))
    ]


def renumber(models: JSON, roots: Iterable[str]) -> dict[str, str]:
    """New ids for all that the shown widgets need: what they refer to, and links between them."""
    order: dict[str, None] = {}

    def visit(model_id: str) -> None:
        if model_id in models and model_id not in order:
            order[model_id] = None
            for child in references(models[model_id]):
                visit(child)

    for root in roots:
        visit(root)
    position = {model_id: i for i, model_id in enumerate(order)}
    ends = {key: references(model) for key, model in models.items() if is_link(model)}
    links = [key for key in ends if all(end in position for end in ends[key])]
    for key in sorted(links, key=lambda link: [position[end] for end in ends[link]]):
        visit(key)
    return {old: f"widget-{i:04}" for i, old in enumerate(order, start=1)}


def references(model: JSON) -> list[str]:
    """The ids of the models that this one names."""
    return REFERENCE.findall(json.dumps(model["state"], sort_keys=True))


def is_link(model: JSON) -> bool:
    return str(model["model_name"]).endswith("LinkModel")


def normalize_state(stored: JSON, names: dict[str, str] | None = None) -> JSON:
    """The state block with new ids, sorted keys, and no front-end text or empty settings."""
    models = stored["state"]
    names = renumber(models, models) if names is None else names
    renamed = {new: strip_front_end(models[old]) for old, new in names.items()}
    text = REFERENCE.sub(
        lambda match: f'"IPY_MODEL_{names.get(match[1], match[1])}"',
        json.dumps({**stored, "state": renamed}, sort_keys=True),
    )
    result: JSON = json.loads(text)
    return result


def strip_front_end(model: JSON) -> JSON:
    """One model without `_css`, with a stub for `_esm`, and without settings that are None."""
    state = {key: value for key, value in model["state"].items() if value is not None}
    state.pop("_css", None)
    if "_esm" in state:
        state["_esm"] = PLACEHOLDER_MODULE
    return {**model, "state": state}


def find_explorers(notebook: JSON, kinds: Iterable[str] = (EXPLORER_ID,)) -> dict[str, str]:
    """{title: id of the box that holds it} for every explorer that the notebook shows.

    Args:
        kinds: such as PLAYGROUND_ID, too.
    """
    stored = notebook["metadata"].get("widgets", {}).get(STATE_MIME, {"state": {}})
    explorers = {}
    for root in [view["model_id"] for view in widget_views(notebook)]:
        for model_id in renumber(stored["state"], [root]):
            state = stored["state"][model_id]["state"]
            if state.get("_anywidget_id") in kinds:
                explorers[state["title"]] = root
    return explorers


def state_of_widget(notebook: JSON, root: str) -> JSON:
    """The state of one shown widget and of all that it needs, under the notebook's own ids."""
    stored = notebook["metadata"]["widgets"][STATE_MIME]
    return {
        **stored,
        "state": {key: stored["state"][key] for key in renumber(stored["state"], [root])},
    }
