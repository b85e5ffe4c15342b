"""The measured figures: one head for every JSON, Markdown made of it, all on the book's page."""

import importlib
import json
import re
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from qkv.experiments.stored_results import StoredResult, summary

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
sys.path.append(str(BENCHMARKS))
results = importlib.import_module("results")

SCRIPTS = sorted(path.stem for path in BENCHMARKS.glob("*.py"))
MEASURED = sorted(path.stem for path in results.RESULTS.glob("*.json"))
SHOWN = sorted(path.stem for path in results.RESULTS.glob("*.md"))
PAGE = (ROOT / "book" / "measurements.md").read_text("utf-8")


def stored(name):
    return json.loads((results.RESULTS / f"{name}.json").read_text("utf-8"))


def markdown(name):
    return (results.RESULTS / f"{name}.md").read_text("utf-8")


@pytest.mark.parametrize("name", MEASURED)
def test_a_result_says_when_where_and_how(name):
    head = stored(name)
    assert list(head) == [field.name for field in fields(StoredResult)]
    assert head["name"] == name
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", head["date"])
    assert head["machine"]
    assert isinstance(head["system"], str)
    assert head["versions"]
    assert all(re.match(r"\d+\.\d", version) for version in head["versions"].values())
    assert head["threads"] is None or head["threads"] >= 1
    assert head["command"] == results.command(name)
    assert head["seconds"] is None or head["seconds"] > 0
    assert re.fullmatch(r"([0-9a-f]{7,}( \+ changes)?)?", head["commit"])
    assert head["figures"]


@pytest.mark.parametrize("name", MEASURED)
def test_the_table_is_made_of_the_figures(name):
    result = StoredResult(**stored(name))
    table = importlib.import_module(name).table(result.figures)
    assert markdown(name) == results.as_markdown(result, table)


@pytest.mark.parametrize("name", SHOWN)
def test_every_picture_is_there_and_told_in_words(name):
    for alt, picture in re.findall(r"!\[(.*?)\]\((.*?)\)", markdown(name), re.S):
        assert len(alt.split()) > 10
        assert (results.RESULTS / picture).is_file()


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_benchmark_is_shown_or_said_to_wait_for_a_gpu(name):
    text = markdown(name)
    assert summary(BENCHMARKS / f"{name}.py") in text
    assert f"`{results.command(name)}`" in text
    if name not in MEASURED:
        assert "Not measured yet: needs an NVIDIA GPU." in text
        assert "GPU" in (BENCHMARKS / f"{name}.py").read_text("utf-8")


def test_the_page_shows_every_result():
    assert sorted(re.findall(r"^```\{results\} (\w+)$", PAGE, re.M)) == SHOWN
    assert set(MEASURED) <= set(SHOWN)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A folder of results, and a benchmark called depth."""
    (tmp_path / "depth.py").write_text(
        '"""How deep.\n\n    python benchmarks/depth.py FOLDER      or make bench\n"""\n'
    )
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    monkeypatch.setattr(results, "SCRIPTS", tmp_path)
    monkeypatch.setattr(results, "_COMMIT", "1a2b3c4")
    return tmp_path


def test_save_results_writes_the_head_itself(kept):
    results.save_results("depth", "# Depth\n\n| m |\n|--:|\n| 3 |\n", {"m": 3}, {"Chromium": "1.0"})
    result = StoredResult(**json.loads((kept / "depth.json").read_text()))
    assert result.figures == {"m": 3}
    assert result.command == "python benchmarks/depth.py FOLDER"
    assert result.commit == "1a2b3c4"
    assert result.versions["Python"] == ".".join(map(str, sys.version_info[:3]))
    assert result.versions["Chromium"] == "1.0"
    text = (kept / "depth.md").read_text()
    assert text.startswith("# Depth\n\nHow deep.\n\n- Measured: 20")
    assert text.endswith("- Again: `python benchmarks/depth.py FOLDER`\n\n| m |\n|--:|\n| 3 |\n")


def test_what_is_unknown_is_said_to_be(kept):
    result = StoredResult(
        name="depth",
        date="2026-11-20",
        machine="a",
        versions={},
        command="",
        seconds=None,
        figures={},
    )
    text = results.as_markdown(result, "# Depth\n")
    assert text.count("not recorded") == 4  # seconds, commit, system, threads


def test_a_picture_is_the_same_each_time(kept):
    pictures = []
    for _ in range(2):
        figure, ax = results.new_figure()
        ax.plot([1, 2])
        results.save_figure("depth", figure)
        pictures.append((kept / "depth.svg").read_bytes())
    assert pictures[0] == pictures[1]
