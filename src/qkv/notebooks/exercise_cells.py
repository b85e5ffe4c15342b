"""Where the exercises of a chapter stand: question, answer cell, solution.

An exercise begins with its heading, `### Exercise masks-3 · …`, and ends at the next heading of
that level. Its answer cell hands the reader's answer to `check`; what comes before is the question,
what comes after is the solution, with the checks of it and what is said of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

HEADING = re.compile(r"^### Exercise (?P<name>\S+) · (?P<title>.+?) *$", re.MULTILINE)
ANY_HEADING = re.compile(r"^#{1,3} (?P<title>.+?) *$", re.MULTILINE)
MINUTES = re.compile(r"^\*About (\d+) minutes?\.\*$", re.MULTILINE)
FURTHER = "Going further"


@dataclass(frozen=True)
class ExerciseCells:
    """One exercise of a chapter, as positions in its list of cells.

    Args:
        minutes: what it states below its heading; 0 if it states none.
        further: whether it stands under *Going further*.
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
    headings = [
        (place, match)
        for place, cell in enumerate(cells)
        if cell["cell_type"] == "markdown"
        for match in ANY_HEADING.finditer(cell["source"])
    ]
    found, further = [], False
    for number, (place, heading) in enumerate(headings):
        further = further or heading["title"] == FURTHER
        match = HEADING.match(cells[place]["source"], heading.start())
        if not match:
            continue
        end = headings[number + 1][0] if number + 1 < len(headings) else len(cells)
        answers = [i for i in range(place, end) if is_answer(cells[i], match["name"])]
        minutes = MINUTES.search(cells[place]["source"], match.end())
        if answers:
            exercise = ExerciseCells(
                match["name"],
                match["title"],
                int(minutes[1]) if minutes else 0,
                further,
                range(place, answers[0]),
                answers[0],
                range(answers[0] + 1, end),
            )
            found.append(exercise)
    return found


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
