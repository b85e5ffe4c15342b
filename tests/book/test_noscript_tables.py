"""Without JavaScript a page says in tables how an explorer opens."""

import importlib
import re
import sys
from pathlib import Path

from ipywidgets import Widget

from qkv.explore import explore
from qkv.notebooks.widget_state import STATE_MIME, VIEW_MIME, normalize_notebook
from tests.helpers.panels import MIXES, WIDTHS, every_panel

sys.path.append(str(Path(__file__).parents[2] / "book" / "extensions"))
noscript_tables = importlib.import_module("noscript_tables").noscript_tables


def test_points_trees_and_diagrams_are_tables():
    start = {"width": 2, "mix": 0.5}
    box = explore(every_panel, title="Panels", hint="", start=start, width=WIDTHS, mix=MIXES)
    notebook = normalize_notebook(
        {
            "metadata": {"widgets": {STATE_MIME: Widget.get_manager_state()}},
            "cells": [{"outputs": [{"data": {VIEW_MIME: {"model_id": box.model_id}}}]}],
        }
    )
    [output] = notebook["cells"][0]["outputs"]
    models = notebook["metadata"]["widgets"][STATE_MIME]["state"]
    html = noscript_tables(models, output["data"][VIEW_MIME]["model_id"])
    assert "<th></th>" not in html
    text = re.sub(r"<[^>]*>", "|", html)
    text = re.sub(r"\|+", "|", text)
    for row in (
        "first coordinate|second coordinate|cat|0.19|0.43|",
        "clocks, b|x|y|hand|0.83|0.56|",
        "path|value|state|&lt;s&gt;|&lt;s&gt; → cat|−1.17|kept|",
        "&lt;s&gt; → cat → cat → cat|−3.17|finished|",
        "|&lt;s&gt; → 어텐션|merged|",
        "part|value|what it is|x|(8, 10, 128)|the input|W_Q|8,192|",
        "|scaled dot-product attention → W_O|(B, T, d_v)|all heads, side by side|",
    ):
        assert row in text, row
