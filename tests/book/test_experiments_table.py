"""The table of stored experiments: every one of them, with the chapters that read it."""

import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from qkv.experiments import stored_result, stored_results
from qkv.experiments.stored_results import summary

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "extensions"))
experiments_table = importlib.import_module("experiments_table")

NAMES = sorted(path.stem for path in stored_results.RESULTS.glob("*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_a_row_says_what_where_when_and_how(name):
    result = stored_result(name)
    chapters = experiments_table.chapters_that_read(ROOT / "chapters").get(name, [])
    first, links, date, machine, seconds = experiments_table.row(result, chapters)
    what, command = first.split("<br>")
    assert what.startswith(summary(stored_results.RESULTS.parent / f"{name}.py")[:20])
    assert links.count("](/chapters/") == len(chapters)
    assert date.replace("\N{NON-BREAKING HYPHEN}", "-") == result.date
    assert machine == result.machine
    noted = "not recorded" if result.seconds is None else str(result.seconds)
    assert seconds.replace(",", "") == noted
    assert command == f"`python -m qkv.experiments.{name}`"


def test_seconds_that_nobody_noted_are_not_recorded():
    result = replace(stored_result(NAMES[0]), seconds=None)
    assert "not recorded" in experiments_table.row(result, [])


def test_chapters_are_found_by_what_their_code_reads(tmp_path):
    cells = {
        "05_masks": ("code", 'stored = stored_result("depth").figures'),
        "06_multi_head": ("markdown", 'as `stored_result("depth")` says'),
        "07_add_norm": ("code", 'print(stored_result("depth"), stored_result("width"))'),
    }
    for stem, (kind, source) in cells.items():
        text = json.dumps({"cells": [{"cell_type": kind, "source": [source]}]})
        (tmp_path / f"{stem}.ipynb").write_text(text)
    assert experiments_table.chapters_that_read(tmp_path) == {
        "depth": ["05_masks", "07_add_norm"],
        "width": ["07_add_norm"],
    }
