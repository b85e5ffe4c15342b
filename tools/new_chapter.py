"""Lay out a new chapter and its rooms: `make new-chapter NAME=gating`.

    python tools/new_chapter.py gating

It gets the next number. Each file holds a TODO where the author's own text goes; the tests fail,
and say what is missing, until that is written. Nothing is overwritten.
"""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from qkv.notebooks.stored_form import normal_form
from tools.chapter_templates import (
    BEFORE,
    BEHIND,
    CHECKS,
    EXERCISE_TESTS,
    EXPLORER,
    EXPLORER_TESTS,
    IMPORTS_METADATA,
    LATER,
    ROOM,
    ROOM_TESTS,
    ROW,
)
from tools.editions import notebooks_in
from tools.layout import (
    LayoutError,
    cell_ids,
    check_function,
    exercise_cells,
    with_answers,
    write_files,
)
from tools.notebook_rules.teaching import FEWEST_EXERCISES

ROOT = Path(__file__).resolve().parent.parent


def chapter_files(name: str) -> tuple[dict[Path, str], dict[Path, str]]:
    """The files that a chapter of this name changes, and those that it adds.

    Raises:
        LayoutError: there can be no chapter of this name.
    """
    check_name(name)
    package, tests = ROOT / "src" / "qkv", ROOT / "tests"
    number = int(notebooks_in(ROOT / "chapters")[-1].name[:2]) + 1
    exercises = [f"{name}-{n}" for n in range(1, FEWEST_EXERCISES + 1)]
    answers = EXERCISE_TESTS.format(name=name)
    for exercise in exercises:
        answers = with_answers(answers, exercise)
    new = {
        ROOT / "chapters" / f"{number:02}_{name}.ipynb": notebook(name, exercises),
        package / "numpy" / f"{name}.py": ROOM.format(
            name=name, more=", each with its _backward beside it"
        ),
        package / "torch" / f"{name}.py": ROOM.format(name=name, more=", those of NumPy's room"),
        package / "explore" / f"{name}.py": EXPLORER.format(name=name),
        package / "exercises" / f"{name}.py": CHECKS.format(name=name)
        + "".join(map(check_function, exercises)),
        tests / "rooms" / f"test_{name}.py": ROOM_TESTS.format(name=name),
        tests / "explore" / f"test_explore_{name}.py": EXPLORER_TESTS.format(name=name),
        tests / "exercises" / f"test_exercises_{name}.py": answers,
    }
    for path in new:
        if path.exists() or (path.suffix == ".py" and path.with_suffix("").exists()):
            raise LayoutError(f"{path.relative_to(ROOT)} would stand in the place of another")
    rooms = [package / room / "__init__.py" for room in ("numpy", "torch")]
    changed = {path: with_star_import(path.read_text("utf-8"), path, name) for path in rooms}
    toc, tables = ROOT / "_toc.yml", ROOT / "CONTRIBUTING.md"
    changed[toc] = behind_last(
        r"^      - file: chapters/.*\n", toc, f"      - file: chapters/{number:02}_{name}\n"
    )
    row = ROW.format(name=name, words=name.replace("_", " "))
    changed[tables] = behind_last(r"^\| .* \|\n(?=\nBeside the rooms:)", tables, row)
    return changed, new


def check_name(name: str) -> None:
    """Raise `LayoutError` unless modules and cells can have the name."""
    if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name) or keyword.iskeyword(name):
        raise LayoutError(
            f"{name!r} is no name for a chapter: small letters, and _ between words, as multi_head"
        )


def notebook(name: str, exercises: list[str]) -> str:
    """The text of a notebook that has not run."""
    ids = cell_ids(name)
    cells = [one_cell(text.format(name=name), ids) for text in BEFORE]
    cells += [cell for exercise in exercises for cell in exercise_cells(exercise, ids)]
    cells += [one_cell(text, ids) for text in BEHIND]
    cells[1].metadata.update(IMPORTS_METADATA)
    return normal_form(new_notebook(cells=cells))


def one_cell(text: str, ids: Iterator[str]) -> Any:
    new_cell: Any = new_markdown_cell if text.startswith("#") else new_code_cell
    return new_cell(text, id=next(ids))


def with_star_import(text: str, path: Path, name: str) -> str:
    """The room's `__init__.py` with its new module among the others, in their order."""
    line = f"from qkv.{path.parent.name}.{name} import *\n"
    lines = text.splitlines(keepends=True)
    later = [place for place, other in enumerate(lines) if other.startswith("from qkv.")]
    place = next((place for place in later if lines[place] > line), later[-1] + 1)
    return "".join([*lines[:place], line, *lines[place:]])


def behind_last(pattern: str, path: Path, line: str) -> str:
    """The file's text with a line behind the last one of its kind.

    Raises:
        LayoutError: there is none of its kind.
    """
    text = path.read_text("utf-8")
    *_, last = [None, *re.finditer(pattern, text, re.MULTILINE)]
    if last is None:
        raise LayoutError(f"{path.relative_to(ROOT)} has no line like {line.strip()!r}")
    return text[: last.end()] + line + text[last.end() :]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="of its concept, such as gating")
    name = parser.parse_args().name
    try:
        changed, new = chapter_files(name)
        write_files(changed, new)
    except LayoutError as error:
        print(f"{error}. Nothing was laid out.", file=sys.stderr)
        return 1
    print(f"The chapter {name} is laid out in")
    print(*(f"  {file.relative_to(ROOT)}" for file in (*new, *changed)), sep="\n")
    print(LATER.format(name=name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
