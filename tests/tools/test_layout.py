"""`make new-exercise` and `make new-chapter`: what they lay out, what the tests then say of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from qkv.exercises.checks import load_exercises
from tools import layout, new_chapter, new_exercise
from tools.book_facts import with_times
from tools.notebook_rules import problems
from tools.notebook_rules.load import load_chapter

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
RULES = "tests/chapters/test_notebooks.py::test_chapter_keeps_every_rule"
ROOMS = "tests/rooms/test_rooms.py::test_the_rooms_hold_the_same"
LEFT_OUT = (".git", ".venv", "_build", "node_modules", "__pycache__", ".*_cache", ".hypothesis")
# The author's text for the marks in the files of an exercise, which ends up right.
WRITTEN = {
    "TODO: what to do": "By hand: halve it",
    "TODO: the question, and the form of the answer.": "What are the halves of 1 and ½?",
    "  # TODO: the form of the answer": "",
    "# TODO: the right answer, and the way to it": "# halve each",
    'check("masks-11", ...)': 'check("masks-11", [0.5, 0.25])',
    "    # TODO: a name that says what is asked; a hint of its own for each likely mistake\n": "",
    '    raise NotImplementedError("the check of masks-11 is not written")\n': """\
    halves = as_array(answer, (2,))
    reject_each(halves, ([2, 4], "Turned over.", "Which divides?"), ([1, 1], "Whole.", "Halve."))
    reject(not is_close(halves, [0.5, 0.25]), "Other numbers.", "Divide each by 2.")
    return "right: halves."
""",
    "...,  # TODO: the right answer": "[0.5, 0.25],",
    '{},  # TODO: {"a mistake": its answer}, at least three': (
        '{"turned": [2, 4], "whole": [1, 1], "exchanged": [0.25, 0.5]},'
    ),
}


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(ROOT, tmp_path / "book", ignore=shutil.ignore_patterns(*LEFT_OUT))


def run(folder, *command):
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
    )


def failed_tests(folder, *tests):
    done = run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return set(re.findall(r"^FAILED .*?::(.*?)(?: - .*)?$", done.stdout, re.M))


def marks_left(folder):
    """What the linter says of the Python files."""
    done = run(
        folder, "-m", "ruff", "check", "--no-cache", "--output-format=concise", "src", "tests"
    )
    return re.findall(r"^(\S+?):\d+:\d+: (\S+)", done.stdout, re.M)


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_chapter_takes_one_more_exercise(path):
    name, files = new_exercise.exercise_files(path)
    concept = path.stem[3:]
    known = load_exercises(concept)
    assert name == f"{concept}-{len(known) + 1}"
    before = nbformat.read(path, as_version=4).cells
    after = nbformat.reads(files[path], as_version=4).cells
    new = [cell for cell in after if cell not in before]
    assert [cell for cell in after if cell in before] == before
    assert len(new) == 3
    assert not {cell.id for cell in new} & {cell.id for cell in before}
    assert after[after.index(new[0]) - 1].metadata.tags.count("solution") == 1
    checks, tests = (text for file, text in files.items() if file.suffix == ".py")
    assert re.findall(r'^@exercise\("(.*)"\)', checks, re.M)[-1] == name
    assert tests.count(f'"{name}":') == 2


def test_an_exercise_is_laid_out_then_missed_then_right(copy):
    done = run(copy, "tools/new_exercise.py", "masks")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("masks-11 is laid out at the end of\n  chapters/05_masks.ipynb\n")
    files = [copy / line.strip() for line in done.stdout.splitlines() if line.startswith("  ")]
    tests = "tests/exercises/test_exercises_masks.py"
    assert failed_tests(copy, tests) == {
        "TestAnswers::test_right_answer_is_accepted[masks-11: right]",
        "TestAnswers::test_each_mistake_has_its_own_hint[masks-11]",
    }
    assert {(str(copy / file), code) for file, code in marks_left(copy)} == {
        (str(file), "FIX002") for file in files if file.suffix == ".py"
    }
    chapter = copy / "chapters" / "05_masks.ipynb"
    laid_out = load_chapter(chapter)
    asked, tried, solved = (c.id for c in laid_out.notebook.cells if "masks-11" in c.source)
    said = "\n".join(problems(laid_out))
    for missing in (
        f"{tried}: execution count is None",
        f"{asked}: TODO: the question, and the form of the answer.",
        f"{tried}: masks-11 is not stored as unanswered",
        f"{solved}: the solution of masks-11 is not stored as accepted",
    ):
        assert missing in said

    for file in files:
        text = file.read_text("utf-8")
        for mark, words in WRITTEN.items():
            stored = file.suffix == ".ipynb"
            mark, words = (x.replace('"', '\\"') if stored else x for x in (mark, words))
            text = text.replace(mark, words)
        file.write_text(text, "utf-8")
    chapter.write_text(with_times(load_chapter(chapter)), "utf-8")
    done = run(copy, "tools/run_notebooks.py", "masks")
    assert done.returncode == 0, done.stderr
    assert failed_tests(copy, tests, f"{RULES}[05_masks]") == set()
    assert marks_left(copy) == []


def test_a_chapter_is_laid_out_and_misses_what_is_marked(copy):
    before = contents(copy)
    done = run(copy, "tools/new_chapter.py", "gating")
    assert done.returncode == 0, done.stderr
    after = contents(copy)
    named = {copy / line.strip() for line in done.stdout.splitlines() if line.startswith("  ")}
    assert {path for path, text in after.items() if before.get(path) != text} == named
    done = run(copy, "tools/run_notebooks.py", "gating")
    assert done.returncode == 0, done.stderr
    failed = failed_tests(
        copy,
        *(f"{RULES}[19_gating]", "tests/exercises/test_exercises_gating.py"),
        *("tests/explore/test_explore_gating.py", "tests/rooms/test_gating.py"),
        *(f"{ROOMS}_names", f"{ROOMS}_files", "tests/test_where_things_are.py"),
    )
    numbers = range(1, 5)
    assert failed == {
        "test_chapter_keeps_every_rule[19_gating]",
        "test_it_is_tried",
        *(f"TestAnswers::test_right_answer_is_accepted[gating-{n}: right]" for n in numbers),
        *(f"TestAnswers::test_each_mistake_has_its_own_hint[gating-{n}]" for n in numbers),
    }
    said = "\n".join(problems(load_chapter(copy / "chapters" / "19_gating.ipynb")))
    assert "gating-01: TODO: the title\n" in said
    assert "no explorer" not in said
    assert {code for _, code in marks_left(copy)} == {"FIX002"}
    assert "      - file: chapters/19_gating\n" in (copy / "_toc.yml").read_text("utf-8")


@pytest.mark.parametrize(
    ("tool", "name", "said"),
    [
        (new_exercise, "mask", "There is no chapter mask. There are: 01_start, 02_embedding, "),
        (new_chapter, "masks", "src/qkv/numpy/masks.py would stand in the place of another."),
        (new_chapter, "attention", "src/qkv/numpy/attention.py would stand in the place of"),
        (new_chapter, "start", "src/qkv/explore/start.py would stand in the place of another."),
        (new_chapter, "Gating", "'Gating' is no name for a chapter: small letters, and _ between"),
        (new_chapter, "../up", "'../up' is no name for a chapter: "),
        (new_chapter, "lambda", "'lambda' is no name for a chapter: "),
    ],
)
def test_what_cannot_be_laid_out_is_refused(tool, name, said, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["", name])
    monkeypatch.setattr(layout, "atomic_write", lambda *_: pytest.fail("something was written"))
    assert tool.main() == 1
    error = capsys.readouterr().err
    assert error.startswith(said)
    assert error.endswith("Nothing was laid out.\n")


def test_all_is_written_or_nothing(tmp_path, monkeypatch):
    old, new, there = (tmp_path / name for name in ("old", "new", "there"))
    old.write_text("before")
    there.write_text("somebody's")
    with pytest.raises(layout.LayoutError, match="there is there already"):
        layout.write_files({old: "after"}, {new: "new", there: "mine"})
    with pytest.raises(layout.LayoutError, match="missing"):
        layout.write_files({old: "after"}, {new: "new", tmp_path / "missing" / "x": ""})

    def interrupt(path, data):
        if data == b"after":
            raise KeyboardInterrupt
        path.write_bytes(data)

    monkeypatch.setattr(layout, "atomic_write", interrupt)
    with pytest.raises(KeyboardInterrupt):
        layout.write_files({old: "after"}, {new: "new"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "old": "before",
        "there": "somebody's",
    }


def test_tests_of_another_form_are_refused():
    with pytest.raises(layout.LayoutError, match="no dictionaries `right` and `wrong`"):
        layout.with_answers("RIGHT = {}", "masks-11")
