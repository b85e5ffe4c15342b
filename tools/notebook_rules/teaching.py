"""Rules on what a chapter owes its reader: the sources' rows, exercises, an explorer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from tools.colab import HIDDEN, is_setup
from tools.notebook_rules.chapter import (
    Chapter,
    asserts,
    calls,
    exercises_checked,
    plain_texts,
    shows_explorer,
    tags,
)
from tools.notebook_rules.length import EXERCISES, sections

FEWEST_EXERCISES = 4
WITHOUT_EXPLORER = {"backward"}  # a derivation: nothing to slide
SHOW_PROSE = "show-prose"
TAGS = {"hide-cell", "hide-input", "one-run", SHOW_PROSE, "solution"}


def nothing_left_to_write(chapter: Chapter) -> Iterator[str]:
    """`make new-exercise` and `make new-chapter` mark what the author still has to write."""
    for cell in chapter.notebook.cells:
        for mark in re.findall(r"\bTODO\b.*", cell.source):
            yield f"{cell.id}: {mark}"


def known_tags(chapter: Chapter) -> Iterator[str]:
    for cell in chapter.notebook.cells:
        allowed = TAGS | {HIDDEN} if is_setup(cell) else TAGS
        for tag in sorted(tags(cell) - allowed):
            if tag.removeprefix("covers-") not in chapter.rows:
                yield f"{cell.id}: unknown tag {tag}"


def slides_of_the_core(chapter: Chapter) -> Iterator[str]:
    """Only what stands before the exercises is shown on slides; prose only of a cell that is."""
    behind = False
    for title, cell in sections(chapter.notebook):
        behind = behind or title == EXERCISES
        prose, has_type = SHOW_PROSE in tags(cell), "slideshow" in cell.metadata
        if behind and (prose or has_type):
            yield f"{cell.id}: a slide type from {EXERCISES} on: take it out"
        elif prose and not (has_type and cell.cell_type == "markdown"):
            yield f"{cell.id}: {SHOW_PROSE} is for a Markdown cell with a slide type"


def covers_rows(chapter: Chapter) -> Iterator[str]:
    """Each row owed is made good by a code cell that asserts."""
    covered: set[str] = set()
    for cell in chapter.notebook.cells:
        for tag in sorted(tag for tag in tags(cell) if tag.startswith("covers-")):
            if cell.cell_type != "code" or not asserts(cell):
                yield f"{cell.id}: {tag} stands on a cell that asserts nothing"
            else:
                covered.add(tag.removeprefix("covers-"))
    owed = {row for row, concepts in chapter.rows.items() if chapter.concept in concepts}
    for row in sorted(owed - covered):
        yield f"{chapter.concept}: no cell covers-{row}"


def has_exercises(chapter: Chapter) -> Iterator[str]:
    """Question, unanswered cell, then a folded solution that the check accepts."""
    questions = exercise_cells(chapter, solved=False)
    solutions = exercise_cells(chapter, solved=True)
    if len(questions) < FEWEST_EXERCISES:
        yield f"{chapter.concept}: {len(questions)} exercises, at least {FEWEST_EXERCISES}"
    for name in sorted(set(questions) ^ chapter.exercises):
        yield f"{chapter.concept}: {name} is in only one of the chapter and qkv.exercises"
    headings = "\n".join(c.source for c in chapter.notebook.cells if c.cell_type == "markdown")
    for name, cell in questions.items():
        if not re.search(rf"^#+ Exercise {re.escape(name)}\b", headings, re.MULTILINE):
            yield f"{cell.id}: no heading 'Exercise {name}'"
        if not any(text.startswith(f"○ {name}:") for text in plain_texts(cell)):
            yield f"{cell.id}: {name} is not stored as unanswered"
        solution = solutions.get(name)
        if solution is None or chapter.code.index(solution) < chapter.code.index(cell):
            yield f"{cell.id}: no solution follows {name}"
        elif not any(text.startswith(f"✓ {name}:") for text in plain_texts(solution)):
            yield f"{solution.id}: the solution of {name} is not stored as accepted"


def exercise_cells(chapter: Chapter, solved: bool) -> dict[str, Any]:
    return {
        name: cell
        for cell in chapter.code
        if ("solution" in tags(cell)) == solved
        for name in exercises_checked(cell)
    }


def solutions_folded(chapter: Chapter) -> Iterator[str]:
    for cell in chapter.code:
        hidden = cell.metadata.get("jupyter", {}).get("source_hidden", False)
        if "solution" in tags(cell) and not ("hide-cell" in tags(cell) and hidden):
            yield f"{cell.id}: a solution in plain sight: tag hide-cell, jupyter.source_hidden"


def explorers_asserted(chapter: Chapter) -> Iterator[str]:
    """nbval compares no picture of a widget: what its function returns is asserted beside it."""
    proved = {call for cell in chapter.code if asserts(cell) for call in calls(cell)}
    for cell in chapter.code:
        for call in calls(cell).get("explore", []):
            if call.args and ast.unparse(call.args[0]) not in proved:
                yield f"{cell.id}: no cell asserts what {ast.unparse(call.args[0])} returns"


def has_explorer(chapter: Chapter) -> Iterator[str]:
    shown = any(shows_explorer(chapter.notebook, cell) for cell in chapter.code)
    if not shown and chapter.concept not in WITHOUT_EXPLORER:
        yield f"{chapter.concept}: no explorer"
