"""Rules on how a chapter is stored: run in order, nothing excused, always the same bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qkv.notebooks.stored_form import normal_form
from qkv.notebooks.widget_state import cells_without_state
from tools.colab import has_expected_setup_cell
from tools.notebook_rules.chapter import Chapter, plain_texts, tree

EXCUSES = re.compile(r"#\s*(NBVAL_|PYTEST_VALIDATE_)|^\s*[%!]|get_ipython\(", re.MULTILINE)
LEFTOVER = re.compile(r"^\[?<(Axes|matplotlib)|^\[?Text\(|^Axes\(| at 0x[0-9a-f]+")


def ran_in_order(chapter: Chapter) -> Iterator[str]:
    """nbval compares nothing in a cell whose count is null."""
    for place, cell in enumerate(chapter.code, start=1):
        if cell.execution_count != place:
            yield f"{cell.id}: execution count is {cell.execution_count}, expected {place}"


def no_errors(chapter: Chapter) -> Iterator[str]:
    for cell in chapter.code:
        if any(output.output_type == "error" for output in cell.outputs):
            yield f"{cell.id}: an error is stored"


def nothing_excused(chapter: Chapter) -> Iterator[str]:
    for cell in chapter.code:
        if EXCUSES.search(cell.source):
            yield f"{cell.id}: a magic or a marker that nbval obeys"
        if cell.source.rstrip().endswith(";"):
            yield f"{cell.id}: a trailing ';' does not silence a cell under nbval, write _ = ..."
        elif cell.source.strip() and not tree(cell).body:
            yield f"{cell.id}: not plain Python"


def no_leftovers(chapter: Chapter) -> Iterator[str]:
    """What a drawing call returns, or an address, tells a reader nothing."""
    for cell in chapter.code:
        for text in plain_texts(cell):
            if LEFTOVER.search(text):
                yield f"{cell.id}: prints {text[:30]!r}"


def stable_ids(chapter: Chapter) -> Iterator[str]:
    """nbformat gives a repeated id a random name, so this rule sees that too."""
    for cell in chapter.notebook.cells:
        if not re.fullmatch(rf"{chapter.concept}-[a-z0-9-]+", cell.id):
            yield f"{cell.id}: ids look like {chapter.concept}-07, each once"


def widgets_stored(chapter: Chapter) -> Iterator[str]:
    """The built page draws a widget from its stored state."""
    for cell in cells_without_state(chapter.notebook):
        yield f"{cell}: shows a widget whose state is not stored: make notebooks"


def set_up_for_colab(chapter: Chapter) -> Iterator[str]:
    if not has_expected_setup_cell(chapter.notebook, chapter.address, chapter.concept):
        expected = f"that of {chapter.address}" if chapter.address else "none"
        yield f"{chapter.concept}: expected {expected} as set-up cell for Colab: make notebooks"


def stored_in_normal_form(chapter: Chapter) -> Iterator[str]:
    if normal_form(chapter.notebook) != chapter.text:
        yield f"{chapter.concept}: not as tools/run_notebooks.py stores it: make notebooks"
