"""The exercises of every chapter are found, each with its question, answer cell and solution."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from qkv.exercises.checks import load_exercises
from qkv.notebooks.exercise_cells import check_call, exercises_of, is_solution

CHAPTERS = sorted(Path("chapters").glob("*.ipynb"))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_exercise_of_a_chapter_is_found(path):
    cells = nbformat.read(path, as_version=4).cells
    found = exercises_of(cells)
    assert {one.name for one in found} == set(load_exercises(path.stem[3:]))
    solutions = [i for i, cell in enumerate(cells) if is_solution(cell)]
    assert solutions == [i for one in found for i in one.solution if is_solution(cells[i])]
    assert all(one.minutes and one.title for one in found)
    further = next(i for i, cell in enumerate(cells) if "## Going further" in cell.source)
    assert [one.further for one in found] == [one.answer > further for one in found]


def small():
    return [
        new_markdown_cell(
            "## Exercises\n\nHow to.\n\n### Exercise toy-1 · One\n\n*About 1 minute.*"
        ),
        new_code_cell("print(1)"),
        new_code_cell('answer_1 = ...\ncheck("toy-1", answer_1)'),
        new_code_cell('check("toy-1", 1)', metadata={"tags": ["solution", "hide-cell"]}),
        new_code_cell("assert 1"),
        new_markdown_cell("## Going further\n\n### Exercise toy-2 · Two"),
        new_code_cell('check("toy-2", ...)'),
        new_code_cell('check("toy-2", 2)', metadata={"tags": ["solution", "hide-cell"]}),
        new_markdown_cell("### Why?"),
        new_code_cell("print(2)"),
    ]


def test_an_exercise_ends_at_the_next_heading():
    one, two = exercises_of(small())
    assert (one.name, one.title, one.minutes, one.further) == ("toy-1", "One", 1, False)
    assert (list(one.question), one.answer, list(one.solution)) == ([0, 1], 2, [3, 4])
    assert (two.name, two.title, two.minutes, two.further) == ("toy-2", "Two", 0, True)
    assert (list(two.question), two.answer, list(two.solution)) == ([5], 6, [7])


def test_only_a_statement_of_its_own_is_a_check():
    assert check_call('check("a-1", 2)', "a-1").lineno == 1
    for code in ('x = check("a-1", 2)', 'check("a-2", 2)', "check()", "%magic"):
        assert check_call(code, "a-1") is None
