"""What the stored state of a page's widgets may hold: explorers, playgrounds and their controls."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from qkv.explore.framework import bundle as drawing
from qkv.explore.playground import bundle as playground
from qkv.notebooks.widget_state import (
    EXPLORER_ID,
    PLACEHOLDER_MODULE,
    PLAYGROUND_ID,
    STATE_MIME,
)

CONTROLS = {"Box", "HBox", "VBox", "Label", "Checkbox", "RadioButtons", "SelectionSlider", "Link"}
CLASSES = {"qkv-explore", "qkv-title", "qkv-hint", "qkv-controls"}
STYLES = {"LabelStyle", "CheckboxStyle", "DescriptionStyle", "SliderStyle"}
MODELS = {
    "@jupyter-widgets/base": {"LayoutModel"},
    "@jupyter-widgets/controls": {f"{name}Model" for name in CONTROLS | STYLES},
    "anywidget": {"AnyModel"},
}
# Where a page writes the state, this would end the element that it is written in.
ENDS_SCRIPT = re.compile(r"<(?:/?script|!--)", re.IGNORECASE)


def widget_problems(stored: Mapping[str, Any]) -> Iterator[str]:
    """What of a notebook's `metadata.widgets` no page may hold, each with the mend."""
    for mime, block in stored.items():
        if mime != STATE_MIME or set(block) != {"state", "version_major", "version_minor"}:
            yield "the notebook's widgets hold more than their state: run `make notebooks`"
            return
        for name, model in block["state"].items():
            for problem in model_problems(model):
                yield f"the widget {name!r} {problem}: show an explorer, and run `make notebooks`"
        if ENDS_SCRIPT.search(json.dumps(block)):
            yield "the state of the notebook's widgets holds HTML: run `make notebooks`"


def model_problems(model: Mapping[str, Any]) -> Iterator[str]:
    state, module, name = model["state"], model["model_module"], model["model_name"]
    if name not in MODELS.get(module, ()):
        yield f"is a {name!r} of {module!r}"
        return
    if module == "anywidget":
        if state.get("_anywidget_id") not in (EXPLORER_ID, PLAYGROUND_ID):
            yield f"is a {state.get('_anywidget_id')!r}"
        if state.get("_esm") not in own_modules():
            yield "has a script of its own"
    if state.get("_css") not in own_style_sheets():
        yield "has a style sheet of its own"
    if not CLASSES.issuperset(state.get("_dom_classes", [])):
        yield f"has the classes {state['_dom_classes']}"
    if state.get("description_allow_html"):
        yield "has a label that is HTML"


@cache
def own_style_sheets() -> set[str | None]:
    """What may stand in `_css`, which the page does not read: it has these by itself."""
    return {None, "", drawing.style_sheet(), playground.whole_style_sheet()}


@cache
def own_modules() -> set[str]:
    """What may stand in `_esm`: a notebook has one of these, stored by us or by JupyterLab."""
    return {PLACEHOLDER_MODULE, drawing.es_module(), playground.es_module()}
