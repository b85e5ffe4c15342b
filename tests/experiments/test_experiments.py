"""Stored results: each is renewed in small, and both hold what the book says of them."""

import importlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import qkv.experiments
from qkv.experiments import stored_results
from qkv.experiments.stored_results import run_and_store, source_commit, stored_result

MODULES = {path.stem for path in Path(qkv.experiments.__file__).parent.glob("*.py")}
ON_A_GPU = {"devices_gpu"}  # refused without one: a small run on a processor has its own test
NAMES = sorted(MODULES - {"__init__", "places_of_it", "small_translator", "stored_results"})


def experiment(name):
    return importlib.import_module(f"qkv.experiments.{name}")


def shape_of(figures):
    """The keys of the figures, down to their numbers."""
    if isinstance(figures, dict):
        return {key: shape_of(value) for key, value in figures.items()}
    return type(figures) in (list, tuple)


def test_every_experiment_has_a_result_and_every_result_an_experiment():
    assert sorted({path.stem for path in stored_results.RESULTS.glob("*")}) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_result_says_when_where_and_how(name):
    result = stored_result(name)
    assert result.name == name
    assert result.command == f"python -m qkv.experiments.{name}"
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", result.date)
    assert result.machine
    assert set(result.versions) == {"Python", "numpy", "torch"}
    assert re.fullmatch(r"([0-9a-f]{7,}( \+ changes)?)?", result.commit)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_book_says_holds_for_the_stored_result(name):
    experiment(name).check(stored_result(name).figures)


@pytest.mark.parametrize("name", sorted(set(NAMES) - ON_A_GPU))
def test_what_the_book_says_holds_for_a_fresh_small_run(name):
    """`check` allows for its size: fewer seeds, lengths or steps, but the same figures."""
    module = experiment(name)
    figures = json.loads(json.dumps(module.measure(small=True)))
    module.check(figures)
    assert shape_of(figures) == shape_of(stored_result(name).figures)


def test_a_run_is_stored_whole_with_its_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(stored_results, "RESULTS", tmp_path)
    result = run_and_store("depth", lambda: {"loss": [0.5, 0.25]})
    assert stored_result("depth") == result
    assert result.figures == {"loss": [0.5, 0.25]}
    assert "python -m qkv.experiments.depth" in str(result)
    assert '"loss"' in capsys.readouterr().out


def test_a_result_that_is_not_there_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_results, "RESULTS", tmp_path)
    (tmp_path / "depth.json").write_text("{}")
    with pytest.raises(ValueError, match=r"must be one of \['depth'\], got 'width'"):
        stored_result("width")


def test_a_result_says_the_commit_of_its_source(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_results, "RESULTS", tmp_path)
    monkeypatch.setattr(stored_results, "source_commit", lambda folder: "1a2b3c4")
    result = run_and_store("depth", dict)
    assert result.commit == stored_result("depth").commit == "1a2b3c4"
    assert ", source at commit 1a2b3c4) by\n" in str(result)


def test_a_result_from_before_commits_were_stored_says_none(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_results, "RESULTS", tmp_path)
    run_and_store("depth", dict)
    old = json.loads((tmp_path / "depth.json").read_text())
    del old["commit"]
    (tmp_path / "depth.json").write_text(json.dumps(old))
    assert stored_result("depth").commit == ""
    assert "commit" not in str(stored_result("depth"))


@pytest.fixture
def checkout(tmp_path):
    """A repository with one commit, and a way to ask git there."""
    if shutil.which("git") is None:
        pytest.skip("there is no git")

    def git(*arguments):
        who = ("-c", "user.name=A", "-c", "user.email=a@b.c")
        command = ["git", "-C", tmp_path, *who, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    (tmp_path / "qkv").mkdir()
    (tmp_path / "qkv" / "model.py").write_text("1")
    git("init")
    git("add", ".")
    git("commit", "-m", "Begin", "--no-verify")
    return tmp_path, git


def test_the_commit_of_a_source_is_its_hash(checkout):
    folder, git = checkout
    (folder / "elsewhere.py").write_text("2")
    (folder / "qkv" / "results").mkdir()
    (folder / "qkv" / "results" / "depth.json").write_text("{}")
    assert source_commit(folder / "qkv") == git("rev-parse", "--short", "HEAD")


@pytest.mark.parametrize("name", ["model.py", "new.py"])
def test_changes_of_a_source_are_told_beside_its_commit(checkout, name):
    folder, git = checkout
    (folder / "qkv" / name).write_text("2")
    assert source_commit(folder / "qkv") == git("rev-parse", "--short", "HEAD") + " + changes"


def test_a_source_that_no_repository_keeps_has_no_commit(checkout):
    folder, _ = checkout
    (folder / "site-packages").mkdir()
    (folder / "site-packages" / "qkv.py").write_text("1")
    assert source_commit(folder / "site-packages") == ""


def test_a_source_without_a_repository_has_no_commit(tmp_path):
    assert source_commit(tmp_path) == ""


def test_a_source_where_there_is_no_git_has_no_commit(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert source_commit(stored_results.RESULTS.parents[1]) == ""
