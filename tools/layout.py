"""What a new exercise consists of, laid out with a mark wherever the author has to write.

tools/new_exercise.py and tools/new_chapter.py share it. The marks begin with TODO: the linter and
the rules of the chapters name those that are left.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell

from qkv.files import atomic_write

QUESTION = """\
### Exercise {name} · TODO: what to do

*About 5 minutes.*

TODO: the question, and the form of the answer."""
ASK = """\
answer_{number} = ...  # TODO: the form of the answer
check("{name}", answer_{number})"""
SOLUTION = """\
# TODO: the right answer, and the way to it
check("{name}", ...)"""
SOLUTION_METADATA = {
    "jupyter": {"source_hidden": True},
    "mystnb": {"code_prompt_hide": "Solution", "code_prompt_show": "Solution"},
    "tags": ["solution", "hide-cell"],
}
CHECK = """

@exercise("{name}")
def {function}(answer: object) -> str:
    # TODO: a name that says what is asked; a hint of its own for each likely mistake
    raise NotImplementedError("the check of {name} is not written")
"""
ANSWERS = {  # in the tests, the entries of two dictionaries
    "right": '"{name}": ...,  # TODO: the right answer',
    "wrong": '"{name}": {{}},  # TODO: {{"a mistake": its answer}}, at least three',
}


class LayoutError(Exception):
    """Why nothing was laid out, as a message for the author."""


def cell_ids(concept: str, cells: Iterable[Any] = ()) -> Iterator[str]:
    """The ids that follow the highest one: cells need not stand in the order of their numbers."""
    numbers = [re.fullmatch(rf"{concept}-(\d+)", cell.id) for cell in cells]
    last = max((int(number[1]) for number in numbers if number), default=0)
    return (f"{concept}-{number:02}" for number in itertools.count(last + 1))


def exercise_cells(name: str, ids: Iterator[str]) -> list[Any]:
    """The question, the cell that asks, and the solution, none of them run."""
    question, ask, solution = (
        text.format(name=name, number=name.rpartition("-")[2]) for text in (QUESTION, ASK, SOLUTION)
    )
    return [
        new_markdown_cell(question, id=next(ids)),
        new_code_cell(ask, id=next(ids)),
        new_code_cell(solution, id=next(ids), metadata=SOLUTION_METADATA),
    ]


def check_function(name: str) -> str:
    """The check, for the end of the chapter's file in src/qkv/exercises."""
    return CHECK.format(name=name, function=name.replace("-", "_"))


def with_answers(tests: str, name: str) -> str:
    """The text of a chapter's tests, with room for the exercise's right and wrong answers.

    Raises:
        LayoutError: it holds no dictionaries of them.
    """
    module = ast.parse(tests)
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    found = {
        target.id.lower(): node.value
        for node in itertools.chain(module.body, *(one.body for one in classes))
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    if not ANSWERS.keys() <= found.keys():
        raise LayoutError("the chapter's tests have no dictionaries `right` and `wrong`")
    lines = tests.splitlines(keepends=True)
    for what in sorted(ANSWERS, key=lambda what: -(found[what].end_lineno or 0)):
        end = found[what]
        indent = " " * ((end.end_col_offset or 0) - 1 + 4)
        lines.insert((end.end_lineno or 0) - 1, f"{indent}{ANSWERS[what].format(name=name)}\n")
    return "".join(lines)


def write_files(changed: Mapping[Path, str], new: Mapping[Path, str]) -> None:
    """Write all of the files, or leave everything as it was.

    Raises:
        LayoutError: one of the new files is there already, or one cannot be written.
    """
    before = {path: path.read_bytes() for path in changed}
    written: list[Path] = []
    try:
        for path, text in {**new, **changed}.items():
            if path in new and path.exists():
                raise LayoutError(f"{path} is there already")
            written.append(path)
            atomic_write(path, text.encode())
    except BaseException as error:
        for path in written:
            if path in before:
                atomic_write(path, before[path])
            else:
                path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise LayoutError(f"{error.filename}: {error.strerror}") from None
        raise
