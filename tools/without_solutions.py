"""The book's sources without solutions: what `make html SOLUTIONS=0` builds.

A copy is built, and not the sources with an extension that hides cells: so the page, its search
index, the notebook that it offers and whatever reads a chapter from its file all hold the same.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat

from qkv.language import gettext, using_language
from qkv.notebooks.exercise_cells import ExerciseCells, exercises_of, start_of_exercises
from qkv.notebooks.stored_form import notebook_text
from tools.editions import copy_all_but_chapters, languages_of, notebooks_in, short_name

SETTING = "QKV_SOLUTIONS"


def wanted() -> bool:
    """Whether the book is to have solutions.

    Raises:
        ValueError: the setting is neither 0 nor 1.
    """
    value = os.environ.get(SETTING, "") or "1"
    if value not in ("0", "1"):
        message = gettext("SOLUTIONS is 0 (a book without solutions) or 1, got {value!r}.")
        raise ValueError(message.format(value=value))
    return value == "1"


def copy_without_solutions(root: Path, folder: Path) -> Path:
    """Lay out the book of `root` in an empty folder, its chapters without solutions."""
    copy_all_but_chapters(root, folder)
    chapters = root / "chapters"
    for language in languages_of(chapters):
        for path in notebooks_in(chapters, language):
            with using_language(language):
                notebook = without_solutions(nbformat.read(path, as_version=4))
            target = folder / "chapters" / short_name(path)
            target.parent.mkdir(exist_ok=True)
            target.write_text(notebook_text(notebook), encoding="utf-8")
    return folder


def without_solutions(notebook: Any) -> Any:
    """The chapter without what stands behind an answer cell, and without stored verdicts.

    Links to a cell that goes lead to the answer cell. Of a folded cell in a question, whose code
    may name what it draws, the output stays.
    """
    start, gone = start_of_exercises(notebook.cells), set[int]()
    for one in exercises_of(notebook.cells):
        gone |= take_out(notebook.cells, one)
    if start is not None:
        note = gettext("*This edition has no solutions, also where the text speaks of them.*")
        heading, _, text = notebook.cells[start].source.partition("\n")
        notebook.cells[start].source = f"{heading}\n\n{note}\n{text}".rstrip("\n")
    notebook.cells = [cell for i, cell in enumerate(notebook.cells) if i not in gone]
    return notebook


def take_out(cells: list[Any], one: ExerciseCells) -> set[int]:
    """Change the cells of one exercise; the positions of those that go."""
    folded = [i for i in one.question if "hide-cell" in tags(cells[i])]
    gone = {*folded, *one.solution}
    answer = cells[one.answer]
    anchors = [name for i in sorted(gone) for name in (cells[i].id, *anchors_of(cells[i]))]
    answer.metadata["anchors"] = [*anchors_of(answer), *anchors]
    answer.outputs = [output for output in answer.outputs if output.output_type == "stream"]
    for i in one.question:
        if "hide-input" in tags(cells[i]):
            # myst-nb shows nothing of a cell with no code.
            cells[i].source = gettext(
                "# What this cell shows is kept; its code would tell the answer."
            )
            cells[i].metadata["tags"] = ["remove-input"]
    return gone


def tags(cell: Any) -> list[str]:
    return list(cell.metadata.get("tags", []))


def anchors_of(cell: Any) -> list[str]:
    return list(cell.metadata.get("anchors", []))
