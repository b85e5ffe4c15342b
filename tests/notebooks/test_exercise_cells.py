"""The exercises of every chapter are found, each with its question, answer cell and solution."""

import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from qkv.exercises.checks import load_exercises
from qkv.notebooks.exercise_cells import (
    check_call,
    exercises_of,
    is_solution,
    start_of_exercises,
)
from tests.helpers.korean import in_korean

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
    start = next(i for i, cell in enumerate(cells) if cell.source.startswith("## Exercises"))
    assert start_of_exercises(cells) == start


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_same_exercises_are_found_in_a_korean_chapter(path):
    english = nbformat.read(path, as_version=4)
    korean = in_korean(english)
    text = "\n".join(cell.source for cell in korean.cells if cell.cell_type == "markdown")
    assert "### 연습 문제" in text
    assert not re.search(
        r"^## (Exercises|Going further)|^### Exercise |\*About", text, re.MULTILINE
    )
    assert exercises_of(korean.cells) == exercises_of(english.cells)
    assert start_of_exercises(korean.cells) == start_of_exercises(english.cells)


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


def test_where_the_exercises_start_is_known_if_there_are_any():
    assert start_of_exercises(small()) == 0
    text = new_markdown_cell("## Before\n\n### A part")
    alone = new_markdown_cell("## Exercises")
    cells = small()
    cells[0].source = cells[0].source.partition("How to.")[2].strip()
    assert start_of_exercises([text, alone, text, alone, *cells]) == 3
    assert start_of_exercises([text, alone]) is None
    assert exercises_of([text, alone]) == []


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("*약 12분.*", 12),
        ("*About 12 minutes.*\n\n*Of 3 rows.*", 12),
        ("*See row 3.* What is it?", 0),
        ("*Rows 3 to 5.*", 0),
        ("**About 12 minutes.**", 0),
        ("How?\n\n*In 3 rows.*", 0),
    ],
)
def test_the_minutes_are_the_one_number_of_a_line_in_italics_below_the_heading(text, minutes):
    cells = small()
    cells[0].source = cells[0].source.replace("*About 1 minute.*", text)
    assert exercises_of(cells)[0].minutes == minutes


def test_a_heading_without_the_name_of_an_exercise_is_none():
    for title in ("One · Two", "toy-1", "GPT-2 · What is it?", "toy-1 · One"):
        cells = small()
        cells[0].source = cells[0].source.replace("Exercise toy-1 · One", title)
        assert [one.name for one in exercises_of(cells)] == ["toy-2"]


def test_only_a_statement_of_its_own_is_a_check():
    assert check_call('check("a-1", 2)', "a-1").lineno == 1
    for code in ('x = check("a-1", 2)', 'check("a-2", 2)', "check()", "%magic"):
        assert check_call(code, "a-1") is None
