"""The explorers that the chapters store: found in their notebooks, unpacked, and called again."""

import base64
import importlib
import itertools
import json
from pathlib import Path

from qkv.notebooks.widget_state import EXPLORER_ID, STATE_MIME

# The cell of a notebook: an explorer with a choice of words, one of booleans, and a slider.
CHOICES = """
from qkv.explore import Bars, explore
def chosen(word, doubled, power):
    heights = [(1 + doubled) * len(word) ** power, len(word)]
    return {"heights": Bars(heights, [word, "letters"]), "said": f"{word}, {doubled}, {power}"}
box = explore(chosen, title="Choices", hint="Press a button.", start={"word": "cat"},
              word=["the", "cat", "mat", "<eos>"], doubled=[False, True], power=[0, 1, 2])
box
"""
# … and a playground.
PLAYGROUND = """
from qkv.explore.playground import playground
playground(title="Any sentence", hint="Type one.")
"""
CHAPTERS = sorted((Path(__file__).parents[2] / "chapters").glob("*.ipynb"))


def explorers_of(models):
    """The states of the explorers among stored models, buffers put back."""
    states = []
    for model in models.values():
        state = dict(model["state"])
        if state.get("_anywidget_id") == EXPLORER_ID:
            for buffer in model.get("buffers", []):
                state[buffer["path"][0]] = base64.b64decode(buffer["data"])
            states.append(state)
    return states


def explorers_in_chapter(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return explorers_of(
        notebook["metadata"].get("widgets", {}).get(STATE_MIME, {"state": {}})["state"]
    )


def function_of(source):
    """The pure function behind an explorer, from its module:function."""
    module, _, name = source.partition(":")
    return getattr(importlib.import_module(module), name)


def points_of(axes):
    names = [axis["name"] for axis in axes]
    for values in itertools.product(*(axis["values"] for axis in axes)):
        yield dict(zip(names, values, strict=True))


def run_choices():
    """The function behind CHOICES, and the state of its explorer."""
    names = {}
    exec(CHOICES, names)
    return names["chosen"], names["box"].explorer.get_state()
