"""Stored results: each is renewed in small, and both hold what the book says of them."""

import importlib
import json
import re
from pathlib import Path

import pytest

import qkv.experiments
from qkv.experiments import stored
from qkv.experiments.stored import run_and_store, stored_result

MODULES = {path.stem for path in Path(qkv.experiments.__file__).parent.glob("*.py")}
NAMES = sorted(MODULES - {"__init__", "stored"})


def experiment(name):
    return importlib.import_module(f"qkv.experiments.{name}")


def shape_of(figures):
    """The keys of the figures, down to their numbers."""
    if isinstance(figures, dict):
        return {key: shape_of(value) for key, value in figures.items()}
    return type(figures) in (list, tuple)


def test_every_experiment_has_a_result_and_every_result_an_experiment():
    assert sorted(path.stem for path in stored.RESULTS.glob("*")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_result_says_when_where_and_how(name):
    result = stored_result(name)
    assert result.name == name
    assert result.command == f"python -m qkv.experiments.{name}"
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", result.date)
    assert result.machine
    assert set(result.versions) == {"Python", "numpy", "torch"}


@pytest.mark.parametrize("name", NAMES)
def test_what_the_book_says_holds_for_the_stored_result(name):
    experiment(name).check(stored_result(name).figures)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_book_says_holds_for_a_fresh_small_run(name):
    """`check` allows for its size: fewer seeds, lengths or steps, but the same figures."""
    module = experiment(name)
    figures = json.loads(json.dumps(module.measure(small=True)))
    module.check(figures)
    assert shape_of(figures) == shape_of(stored_result(name).figures)


def test_a_run_is_stored_whole_with_its_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(stored, "RESULTS", tmp_path)
    result = run_and_store("depth", lambda: {"loss": [0.5, 0.25]})
    assert stored_result("depth") == result
    assert result.figures == {"loss": [0.5, 0.25]}
    assert "python -m qkv.experiments.depth" in str(result)
    assert '"loss"' in capsys.readouterr().out


def test_a_result_that_is_not_there_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "RESULTS", tmp_path)
    (tmp_path / "depth.json").write_text("{}")
    with pytest.raises(ValueError, match=r"must be one of \['depth'\], got 'width'"):
        stored_result("width")
