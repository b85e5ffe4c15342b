"""The library page: its tour runs as printed, and no module of the rooms is left out."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import sys
from pathlib import Path

import pytest
from matplotlib import pyplot

import qkv.numpy
import qkv.torch

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "book" / "library.rst"
sys.path.append(str(ROOT / "book" / "extensions"))
api_reference = importlib.import_module("api_reference")


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
def test_the_tour_runs_as_printed() -> None:
    pyplot.switch_backend("agg")  # which opens no window
    done = doctest.testfile(str(PAGE), module_relative=False)
    assert done.attempted > 15
    assert done.failed == 0


@pytest.mark.parametrize("room", [qkv.numpy, qkv.torch], ids=lambda room: room.__name__)
def test_every_concept_of_a_room_is_listed(room: object) -> None:
    listed = set(re.findall(r"qkv[.\w]+", " ".join(re.findall(r"public::(.+)", PAGE.read_text()))))
    modules = {f"{room.__name__}.{m.name}" for m in pkgutil.iter_modules(room.__path__)}
    public = {one: set(importlib.import_module(one).__all__) & set(room.__all__) for one in modules}
    assert {one for one, names in public.items() if names} <= listed
    assert set.union(*public.values()) == set(room.__all__)


@pytest.mark.parametrize(
    ("module", "name", "line"),
    [
        ("qkv.numpy.masks", "causal_mask", ".. autofunction:: qkv.numpy.causal_mask"),
        ("qkv.torch.dropout", "Dropout", ".. autoclass:: qkv.torch.Dropout"),
        ("qkv.text", "EOS", ".. py:data:: qkv.text.EOS"),
        ("qkv.corpus.glosses", "glosses", ".. autofunction:: qkv.corpus.glosses"),
    ],
)
def test_a_name_is_documented_where_it_is_imported_from(module: str, name: str, line: str) -> None:
    assert api_reference.entry(importlib.import_module(module), name)[0] == line
