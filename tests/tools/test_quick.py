"""`make quick` chooses the tests of what has changed, and says what it does not run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tools import failures, quick
from tools.quick import OF_THE_HOUSE, chosen_tests, files_at_work, quick_steps

GUIDE = """
## Where things are

| concept | in each room | explorer | exercises | tests |
|---|---|---|---|---|
| masks | `masks.py` | `masks.py` | `masks.py` `masks_leaks.py` | `test_masks.py` |
| beam search; without arrays in `src/qkv/decoding/` | `decoding/beam.py` | | | `test_beam.py` |

| what you look for | where |
|---|---|
| kernels | `src/qkv/kernels.py` `tests/rooms/test_kernels.py` `tests/browser/test_kernels.py` |

## Code
"""
TESTS = """
test_bridge test_floors rooms/test_rooms rooms/test_masks rooms/test_beam rooms/test_kernels
explore/test_explore explore/test_explore_masks explore/test_explore_efficient
exercises/test_exercises_masks exercises/test_exercises_cost onnx_files/test_graphs
commands/test_train commands/test_train_folder commands/test_translate live/test_logs
live/test_live_origin browser/test_map browser/test_kernels chapters/live/test_chapters
book/test_links book/test_live_code tools/test_run_tests chapters/test_notebooks
test_language exercises/test_exercises_language translations/test_terms
"""
OF_TRANSLATIONS = "test_language exercises/test_exercises_language translations/test_terms"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "CONTRIBUTING.md").write_text(GUIDE)
    for name in TESTS.split():
        path = tmp_path / "tests" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.setattr(quick, "ROOT", tmp_path)
    monkeypatch.setattr(failures, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "chosen"),
    [
        (
            "src/qkv/numpy/masks.py",
            "rooms/test_masks rooms/test_rooms explore/test_explore_masks "
            "exercises/test_exercises_masks",
        ),
        ("src/qkv/torch/decoding/beam.py", "rooms/test_beam rooms/test_rooms"),
        ("src/qkv/decoding/scores.py", "rooms/test_beam"),
        ("src/qkv/numpy/__init__.py", "rooms/test_rooms"),
        ("src/qkv/explore/masks.py", "explore/test_explore_masks"),
        ("src/qkv/explore/efficient_low_rank.py", "explore/test_explore_efficient"),
        ("src/qkv/exercises/masks_leaks.py", "exercises/test_exercises_masks"),
        (
            "src/qkv/exercises/checks.py",
            "exercises/test_exercises_masks exercises/test_exercises_cost "
            "exercises/test_exercises_language",
        ),
        ("src/qkv/kernels.py", "rooms/test_kernels"),
        ("src/qkv/bridge.py", "test_bridge"),
        ("src/qkv/onnx/graph.py", "onnx_files/test_graphs"),
        ("src/qkv/commands/translate_remarks.py", "commands/test_translate"),
        ("src/qkv/commands/train/parser.py", "commands/test_train commands/test_train_folder"),
        ("src/qkv/live/origin.py", "live/test_live_origin"),
        ("src/qkv/live/handlers.py", "live/test_live_origin live/test_logs"),
        ("book/live/toolbar.js", "book/test_live_code"),
        ("tools/steps.py", "tools/test_run_tests"),
        ("chapters/05_masks.ipynb", "chapters/test_notebooks"),
        ("chapters/ko/05_masks.ipynb", OF_TRANSLATIONS),
        ("book/locale/ko/05_masks.po", OF_TRANSLATIONS),
        ("src/qkv/locale/ko/LC_MESSAGES/qkv.po", OF_TRANSLATIONS),
        ("tools/translations/extract.py", OF_TRANSLATIONS),
        ("tests/rooms/test_masks.py", "rooms/test_masks"),
        ("tests/test_bridge.py", "test_bridge"),
        ("tests/rooms/test_deleted.py", ""),
        ("tests/browser/test_map.py", ""),
        ("tests/helpers/rooms.py", ""),
        ("src/qkv/javascript/masks.js", ""),
        ("Makefile", ""),
    ],
)
def test_a_change_chooses_the_tests_of_its_concept(tree: Path, changed: str, chosen: str) -> None:
    assert chosen_tests(changed) == {f"tests/{name}.py" for name in chosen.split()}


def test_the_tables_of_this_book_choose_the_tests_of_masks() -> None:
    in_rooms = {"tests/rooms/test_masks.py", "tests/rooms/test_rooms.py"}
    above = {"tests/explore/test_explore_masks.py", "tests/exercises/test_exercises_masks.py"}
    assert chosen_tests("src/qkv/numpy/masks.py") == in_rooms | above
    assert all((quick.ROOT / name).is_file() for name in OF_THE_HOUSE)


def test_without_a_change_it_lints_alone_and_says_so(tree: Path) -> None:
    steps, left_out = quick_steps([])
    assert [step.name for step in steps] == ["format", "lint"]
    assert left_out.startswith("Nothing has changed: ")


def test_with_changes_it_says_what_it_leaves_out(tree: Path) -> None:
    steps, left_out = quick_steps(["src/qkv/bridge.py", "src/qkv/javascript/masks.js"])
    assert [step.name for step in steps] == ["format", "lint", "types", "quick"]
    assert {*OF_THE_HOUSE, "tests/test_bridge.py"} <= {*steps[-1].command}
    assert "files of unit tests, the book and its links, chapters, pages in a browser" in left_out
    assert "No tests were found for src/qkv/javascript/masks.js." in left_out
    steps, left_out = quick_steps(["tests/rooms/test_masks.py"])
    assert "types" not in [step.name for step in steps], "mypy reads no tests"
    assert "No tests were found" not in left_out


def test_it_is_about_what_is_not_committed_else_about_the_branch(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tree.parent))
    assert files_at_work() == [], "no repository"

    def git(*arguments: str) -> None:
        who = ("-c", "user.name=A", "-c", "user.email=a@b.c")
        subprocess.run(["git", *who, *arguments], cwd=tree, check=True, capture_output=True)

    def commit(name: str) -> None:
        (tree / name).touch()
        git("add", "-A")
        git("commit", "-m", name, "--no-verify")

    git("init", "-b", "main")
    commit("old.py")
    git("branch", "mine")
    commit("of_others.py")
    git("checkout", "mine")
    assert files_at_work() == []
    commit("committed.py")
    assert files_at_work() == ["committed.py"]
    (tree / "new.py").touch()
    (tree / "old.py").unlink()
    assert sorted(files_at_work()) == ["new.py", "old.py"]
    monkeypatch.setenv("PATH", os.devnull)
    assert files_at_work() == []
