"""Where the exercises of a chapter stand: question, answer cell, solution.

An exercise begins with its heading, `### Exercise masks-3 · …`, and ends at the next heading of
that level. Its answer cell hands the reader's answer to `check`; what comes before is the question,
what comes after is the solution, with the checks of it and what is said of it.

All is told by its form, and not by words: a translated chapter has other words, and the same form.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# A heading's words: "Exercise masks-3 · Which result refutes it?", "연습 문제 masks-3 · …".
TITLE = re.compile(r"\S.*? (?P<name>[a-z_]+-\d+) · (?P<title>.+?) *$", re.MULTILINE)
SECTION = 2  # the level of its headings
HEADING = re.compile(r"^(?P<level>#{1,3}) (?P<text>.+)$", re.MULTILINE)
# "*About 5 minutes.*": the line in italics below it, with the one number there.
MINUTES = re.compile(r"\s*^\*[^*\d\n]+(?P<minutes>\d+)[^*\d\n]*\*$", re.MULTILINE)


@dataclass(frozen=True)
class ExerciseCells:
    """One exercise of a chapter, as positions in its list of cells.

    Args:
        minutes: what it states below its heading; 0 if it states none.
        further: whether it stands behind the section of the core's exercises, in *Going further*.
        question: from the heading to the answer cell, that one excepted.
        answer: the cell that hands the answer to `check`.
        solution: the cells after it.
    """

    name: str
    title: str
    minutes: int
    further: bool
    question: range
    answer: int
    solution: range


def exercises_of(cells: Sequence[Any]) -> list[ExerciseCells]:
    """The exercises of a chapter's cells, in the order in which they stand.

    Args:
        cells: of a notebook as nbformat or the json module reads it.
    """
    cells = [{**cell, "source": "".join(cell["source"])} for cell in cells]
    headings = headings_of(cells)
    found: list[ExerciseCells] = []
    section = core = 0  # the section that is read, and the first of those with exercises, counted
    for number, (place, heading) in enumerate(headings):
        section += len(heading["level"]) == SECTION
        match = TITLE.match(cells[place]["source"], heading.start("text"))
        if not match or len(heading["level"]) <= SECTION:
            continue
        end = headings[number + 1][0] if number + 1 < len(headings) else len(cells)
        answers = [i for i in range(place, end) if is_answer(cells[i], match["name"])]
        minutes = MINUTES.match(cells[place]["source"], match.end())
        if answers:
            core = core if found else section
            exercise = ExerciseCells(
                match["name"],
                match["title"],
                int(minutes["minutes"]) if minutes else 0,
                section != core,
                range(place, answers[0]),
                answers[0],
                range(answers[0] + 1, end),
            )
            found.append(exercise)
    return found


def headings_of(cells: Sequence[Any]) -> list[tuple[int, re.Match[str]]]:
    """(position of its cell, heading) of the first three levels, in the order of the chapter."""
    return [
        (place, match)
        for place, cell in enumerate(cells)
        if cell["cell_type"] == "markdown"
        for match in HEADING.finditer("".join(cell["source"]))
    ]


def start_of_exercises(cells: Sequence[Any]) -> int | None:
    """The position of the cell that opens the section of the core's exercises; None if none does.

    Args:
        cells: of a notebook as nbformat or the json module reads it.
    """
    exercises = exercises_of(cells)
    if not exercises:
        return None
    first = exercises[0].question.start
    sections = [place for place, found in headings_of(cells) if len(found["level"]) == SECTION]
    return max((place for place in sections if place <= first), default=None)


def is_solution(cell: Any) -> bool:
    return "solution" in cell["metadata"].get("tags", [])


def is_answer(cell: Any, name: str) -> bool:
    """Whether the reader puts the answer to this exercise there."""
    if cell["cell_type"] != "code" or is_solution(cell):
        return False
    return check_call(cell["source"], name) is not None


def check_call(code: str, name: str) -> ast.Call | None:
    """The statement `check(name, …)` of a cell; None where there is none."""
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return None
    for statement in body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "check":
            first = call.args[0] if call.args else None
            if isinstance(first, ast.Constant) and first.value == name:
                return call
    return None
