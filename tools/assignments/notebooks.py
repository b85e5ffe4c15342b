"""A chapter's exercises as one notebook in nbgrader's form: the version with solutions.

For each exercise: the question, the answer cell with the solution in nbgrader's markers, and a
locked test cell that hands the answer to `check`. Before them stands what they need of the
chapter, cut out by `slicing`, in the chapter's order.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from qkv.language import ENGLISH, get_language
from qkv.notebooks.exercise_cells import ExerciseCells, check_call, exercises_of, is_solution
from tools.assignments.slicing import Slice, imported_names, names_bound
from tools.colab import is_setup

ALWAYS = {"np", "math", "qn"}  # with which an answer may be written, whatever the solution uses
FOLDS = {"hide-cell", "hide-input"}
LINK = re.compile(r"\[([^\][]+)\]\((?!https?://)[^)\s]*\)")
CODE_NAME = re.compile(r"`([A-Za-z_]\w*)[`.(]")
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
# nbgrader gives nothing for a test that writes to stderr, as a warning of NumPy does.
TEST = """\
import contextlib
import io

from IPython.display import display

from qkv.exercises import check

with contextlib.redirect_stderr(io.StringIO()):
    verdict = check("{name}", {answer})
display(verdict)
assert verdict, verdict"""
# The chapter chooses its language in a cell of imports, of which a slice takes what binds a name.
LANGUAGE = """\
import qkv

qkv.set_language("{language}")"""


def assignment(notebook: Any, opening: str, points: Mapping[str, float]) -> Any:
    """The notebook of a chapter's exercises, those that `points` names.

    Its code says what it says in the language that holds now (`qkv.set_language`).

    Args:
        notebook: the chapter.
        opening: the words of its first cell.
    """
    chosen = [one for one in exercises_of(notebook.cells) if one.name in points]
    # From the end to the beginning, as a slice is cut.
    cut = Slice(imports_of(notebook))
    functions = defined_names(notebook)
    taken: list[list[Any]] = []
    place = len(notebook.cells)
    for one in reversed(exercises_of(notebook.cells)):
        taken.append(set_up(notebook.cells[one.solution.stop : place], cut, f"before-{place}"))
        place = one.question.start
        if one in chosen:
            taken.append(exercise_cells(notebook.cells, one, points[one.name]))
            need(cut, notebook.cells, one, functions)
    cut.needed |= ALWAYS & cut.modules
    taken.append(set_up(notebook.cells[:place], cut, "set-up"))
    if (language := get_language()) != ENGLISH:
        code = new_code_cell(LANGUAGE.format(language=language))
        taken.append([read_only(code, "language")])
    parts = [new_markdown_cell(opening, id="opening"), *(c for p in reversed(taken) for c in p)]
    kernel = {"kernelspec": notebook.metadata.kernelspec, "language_info": {"name": "python"}}
    return new_notebook(cells=parts, metadata=nbformat.from_dict(kernel))


def imports_of(notebook: Any) -> frozenset[str]:
    code = (cell.source for cell in notebook.cells if cell.cell_type == "code")
    return frozenset(name for source in code for name in imported_names(source))


def defined_names(notebook: Any) -> set[str]:
    """Functions, classes and modules of the chapter, without those of answers and solutions."""
    exercises = exercises_of(notebook.cells)
    own = {i for one in exercises for i in range(one.question.start, one.solution.stop)}
    found = set(imports_of(notebook))
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and i not in own:
            for node in ast.parse(cell.source).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    found |= names_bound(node)
    return found


def need(cut: Slice, cells: Sequence[Any], one: ExerciseCells, functions: set[str]) -> None:
    """All that the question, the answer and the solution take from the chapter.

    A solution's own names count for nothing behind it: the student's notebook has none of them.
    """
    for i in one.solution:
        if is_solution(cells[i]):
            alone = Slice()
            alone.need(cells[i].source)
            cut.needed |= alone.needed
    cut.need(cells[one.answer].source)
    for i in reversed(one.question):
        if cells[i].cell_type == "markdown":
            cut.needed |= functions & set(CODE_NAME.findall(cells[i].source))
        elif not is_folded(cells[i]):
            cut.need(cells[i].source)


def is_folded(cell: Any) -> bool:
    return bool(FOLDS & set(cell.metadata.get("tags", [])))


def set_up(cells: Sequence[Any], cut: Slice, name: str) -> list[Any]:
    """One locked cell with what these cells of the chapter bind and an exercise needs."""
    own = (cell for cell in reversed(cells) if cell.cell_type == "code" and not is_setup(cell))
    code = [cut.keep(cell.source) for cell in own]
    source = "\n\n".join(part.strip("\n") for part in reversed(code) if part)
    source = re.sub(r"\n{4,}", "\n\n\n", source)
    return [read_only(new_code_cell(source), name)] if source else []


def exercise_cells(cells: Sequence[Any], one: ExerciseCells, points: float) -> list[Any]:
    answer = new_code_cell(answer_source(cells, one))
    test = new_code_cell(TEST.format(name=one.name, answer=answer_name(cells[one.answer], one)))
    return [
        *question_cells(cells, one),
        graded(answer, f"{one.name}-answer", solution=True, locked=False),
        graded(test, one.name, grade=True, points=points),
    ]


def question_cells(cells: Sequence[Any], one: ExerciseCells) -> Iterator[Any]:
    """The question as it is. Of a folded cell, whose code may tell the answer, what it shows."""
    for i in one.question:
        cell, name = cells[i], f"{one.name}-question-{i - one.question.start + 1}"
        if cell.cell_type == "markdown":
            text = (
                cell.source[cell.source.index("### ") :] if i == one.question.start else cell.source
            )
            yield new_markdown_cell(without_links(text), id=name)
        elif not is_folded(cell):
            yield read_only(new_code_cell(cell.source), name)
        elif "hide-cell" not in cell.metadata.tags and cell.outputs:
            yield shown(cell, name)


def without_links(text: str) -> str:
    """Links into the book as their words: where the book is, a student's notebook does not know."""
    return LINK.sub(r"\1", text)


def shown(cell: Any, name: str) -> Any:
    """The stored pictures and words of a cell, as Markdown."""
    text, pictures = [], {}
    for number, output in enumerate(cell.outputs):
        data = output.get("data", {})
        if output.output_type == "stream":
            text.append(f"```text\n{output.text.rstrip()}\n```")
        elif "image/png" in data:
            alt = cell.metadata.mystnb.image.alt
            text.append(f"![{alt}](attachment:{number}.png)")
            pictures[f"{number}.png"] = {"image/png": data["image/png"].replace("\n", "")}
    made = new_markdown_cell("\n\n".join(text), id=name)
    if pictures:
        made.attachments = pictures
    return made


def answer_name(cell: Any, one: ExerciseCells) -> str:
    """The variable that holds the answer: the one that the cell has, or `answer_3`."""
    call = check_call(cell.source, one.name)
    given = call.args[1] if call and len(call.args) > 1 else None
    if isinstance(given, ast.Name):
        return given.id
    return "answer_" + one.name.rpartition("-")[2]


def answer_source(cells: Sequence[Any], one: ExerciseCells) -> str:
    """The answer cell without `check`, and the solution, which nbgrader takes out."""
    name = answer_name(cells[one.answer], one)
    solution = next(cells[i] for i in one.solution if is_solution(cells[i]))
    stub = assign_checked(cells[one.answer].source, one.name, name)
    return f"{stub}\n{BEGIN}\n{assign_checked(solution.source, one.name, name)}\n{END}"


def assign_checked(source: str, exercise: str, name: str) -> str:
    """Code with `name = …` in place of `check(exercise, …)`; without it, if it checks that name."""
    call = check_call(source, exercise)
    assert call is not None, f"{exercise}: no call of check"
    given = ast.get_source_segment(source, call.args[1]) or "..."
    value = f"(\n{given}\n)" if "\n" in given and given[0] not in "([{" else given
    lines = source.encode().split(b"\n")
    end = (call.end_lineno or call.lineno) - 1
    rest = lines[end][call.end_col_offset :]
    made = b"" if given == name else f"{name} = {value}".encode() + rest
    return b"\n".join([*lines[: call.lineno - 1], made, *lines[end + 1 :]]).decode().strip("\n")


def read_only(cell: Any, name: str) -> Any:
    return graded(cell, name)


def graded(
    cell: Any,
    name: str,
    grade: bool = False,
    solution: bool = False,
    locked: bool = True,
    points: float | None = None,
) -> Any:
    """The cell with nbgrader's metadata, of its version 3."""
    cell.id = name
    cell.metadata["nbgrader"] = {
        "schema_version": 3,
        "grade_id": name,
        "grade": grade,
        "solution": solution,
        "locked": locked,
        "task": False,
        **({"points": points} if grade else {}),
    }
    return cell
