"""Stored widgets: ids in reading order, no front-end text, nothing that no cell shows."""

import copy
import json
import re

from ipywidgets import Widget

from qkv.explore import explore
from qkv.notebooks.widget_state import (
    STATE_MIME,
    VIEW_MIME,
    cells_without_state,
    find_explorers,
    normalize_notebook,
    state_of_widget,
)


def say(d_k, n_heads):
    return {"said": f"{d_k} {n_heads}"}


def make_explorer(**changes):
    settings = {"title": "Widths", "hint": "Move d_k.", "d_k": [1, 2, 4], "n_heads": [1, 2]}
    return explore(say, **{**settings, **changes})


def notebook_of(*boxes):
    """A notebook as Jupyter saves it, with random ids and every model in one state."""
    return {
        "metadata": {"widgets": {STATE_MIME: Widget.get_manager_state()}},
        "cells": [
            {
                "outputs": [
                    {"data": {VIEW_MIME: {"model_id": box.model_id}, "text/plain": repr(box)}}
                ]
            }
            for box in boxes
        ],
    }


def test_stored_state_is_stable():
    one, two = (
        normalize_notebook(notebook_of(make_explorer())),
        normalize_notebook(notebook_of(make_explorer())),
    )
    assert json.dumps(one) == json.dumps(two)
    assert json.dumps(normalize_notebook(one)) == json.dumps(one)


def test_stored_state_counts_in_reading_order_and_drops_what_is_not_shown():
    first, second = make_explorer(title="First"), make_explorer(title="Second")
    make_explorer(title="Never shown")
    notebook = normalize_notebook(notebook_of(second, first))
    shown = [cell["outputs"][0]["data"][VIEW_MIME]["model_id"] for cell in notebook["cells"]]
    assert shown[0] == "widget-0001"
    assert shown == sorted(shown)
    assert find_explorers(notebook) == {"Second": shown[0], "First": shown[1]}
    assert "Never shown" not in json.dumps(notebook)


def test_stored_state_has_no_front_end_and_every_reference_resolves():
    notebook = normalize_notebook(
        notebook_of(make_explorer(follow=("d_k", "n_heads", {1: 4, 2: 2})))
    )
    state = notebook["metadata"]["widgets"][STATE_MIME]["state"]
    text = json.dumps(state)
    assert "_css" not in text
    assert "createElementNS" not in text
    assert "null" not in text
    assert set(re.findall(r"IPY_MODEL_([\w-]+)", text)) <= set(state)
    assert sum(model["model_name"] == "LinkModel" for model in state.values()) == 3
    assert list(state) == sorted(state)


def test_one_explorer_travels_with_all_it_needs():
    notebook = normalize_notebook(
        notebook_of(make_explorer(title="One"), make_explorer(title="Two"))
    )
    part = state_of_widget(notebook, find_explorers(notebook)["Two"])["state"]
    assert [m["state"]["title"] for m in part.values() if "title" in m["state"]] == ["Two"]
    assert sum(model["model_name"] == "LinkModel" for model in part.values()) == 2


def test_a_widget_whose_state_was_not_saved_is_found():
    notebook = notebook_of(make_explorer(title="First"), make_explorer(title="Second"))
    for number, cell in enumerate(notebook["cells"]):
        cell["id"] = f"toy-{number}"
    assert cells_without_state(notebook) == []
    second = notebook["cells"][1]["outputs"][0]["data"][VIEW_MIME]
    second["model_id"] = "one that JupyterLab named and did not save"
    assert cells_without_state(notebook) == ["toy-1"]
    del notebook["metadata"]["widgets"]
    assert cells_without_state(notebook) == ["toy-0", "toy-1"]


def test_a_notebook_without_widgets_is_left_alone():
    notebook = {"metadata": {"kernelspec": {"name": "python3"}}, "cells": [{"source": "1"}]}
    assert normalize_notebook(copy.deepcopy(notebook)) == notebook
