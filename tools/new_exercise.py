"""Lay out a new exercise at the end of a chapter: `make new-exercise CHAPTER=masks`.

    python tools/new_exercise.py masks

It gets the next free number. Its cells, its check and its tests hold a TODO where the author's own
text goes; the tests fail, and say what is missing, until that is written. Nothing is overwritten.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import nbformat

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from qkv.exercises.checks import load_exercises
from qkv.notebooks.stored_form import normal_form
from tools.layout import (
    LayoutError,
    cell_ids,
    check_function,
    exercise_cells,
    with_answers,
    write_files,
)
from tools.run_notebooks import NotebookError, find_chapters

ROOT = Path(__file__).resolve().parent.parent


def exercise_files(path: Path) -> tuple[str, dict[Path, str]]:
    """The exercise's name, and the chapter's files with it.

    Raises:
        LayoutError: a file of the chapter's exercises is not there, or has another form.
    """
    concept = path.stem[3:]
    name = f"{concept}-{len(load_exercises(concept)) + 1}"
    checks = ROOT / "src" / "qkv" / "exercises" / f"{concept}.py"
    tests = ROOT / "tests" / "exercises" / f"test_exercises_{concept}.py"
    for file in (checks, tests):
        if not file.is_file():
            raise LayoutError(f"{file.relative_to(ROOT)} is not there")
    return name, {
        path: with_exercise(nbformat.read(path, as_version=4), name),
        checks: checks.read_text("utf-8") + check_function(name),
        tests: with_answers(tests.read_text("utf-8"), name),
    }


def with_exercise(notebook: Any, name: str) -> str:
    """The notebook's text with the exercise behind the last one.

    Raises:
        LayoutError: there is no last one.
    """
    solutions = [
        place
        for place, cell in enumerate(notebook.cells, start=1)
        if "solution" in cell.metadata.get("tags", [])
    ]
    if not solutions:
        raise LayoutError("the chapter has no exercise behind which a new one could stand")
    ids = cell_ids(name.rpartition("-")[0], notebook.cells)
    notebook.cells[solutions[-1] : solutions[-1]] = exercise_cells(name, ids)
    return normal_form(notebook)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("chapter", help="such as masks or 05_masks")
    chapter = parser.parse_args().chapter
    try:
        (path,) = find_chapters([chapter], ROOT / "chapters")
        name, files = exercise_files(path)
        write_files(files, {})
    except (LayoutError, NotebookError) as error:
        print(f"{error}. Nothing was laid out.", file=sys.stderr)
        return 1
    print(f"{name} is laid out at the end of")
    print(*(f"  {file.relative_to(ROOT)}" for file in files), sep="\n")
    print(f"Write what is marked TODO there. Then: tools/run_notebooks.py {path.stem[3:]}")
    print("(.venv/bin/python runs it), `make facts`, `make quick`.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
