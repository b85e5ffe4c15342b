"""What JupyterLab leaves out of the widgets that it saves is put back."""

import copy
import json

import pytest

from qkv.notebooks.widget_defaults import restore_defaults
from qkv.notebooks.widget_state import STATE_MIME
from tests.helpers.explorers import CHAPTERS

LEFT_OUT = ("_model_name", "_view_module", "_dom_classes", "disabled", "readout", "box_style")


@pytest.mark.parametrize("path", CHAPTERS[2:5], ids=lambda path: path.stem)
def test_traits_at_their_defaults_are_named_again(path):
    stored = json.loads(path.read_text("utf-8"))
    saved = copy.deepcopy(stored)
    dropped = 0
    for model in saved["metadata"]["widgets"][STATE_MIME]["state"].values():
        for name in LEFT_OUT:
            if name != "_dom_classes" or not model["state"].get(name):
                dropped += model["state"].pop(name, None) is not None
    assert dropped > 50
    before = copy.deepcopy(saved)
    assert restore_defaults(saved) == stored
    assert saved == before
