"""The chapters keep their rules, and each rule notices when it is broken."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import qkv.numpy
from qkv.exercises.checks import load_exercises
from qkv.explore.framework.widget_state import EXPLORER_ID, STATE_MIME, VIEW_MIME
from tools.colab import repository_address, setup_cell
from tools.notebook_rules import RULES, Chapter, problems
from tools.run_notebooks import normal_form

ROOT = Path(__file__).parents[2]
REPOSITORY = "https://github.com/someone/some-book"
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
ROWS = {
    line.split()[0]: frozenset(line.split()[1:])
    for line in (Path(__file__).with_name("coverage_rows.txt"))
    .read_text(encoding="utf-8")
    .splitlines()
    if line.strip() and not line.startswith("#")
}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapter_keeps_every_rule(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    concept = path.stem[3:]
    chapter = Chapter(
        concept=concept,
        notebook=nbformat.reads(text, as_version=4),
        text=text,
        rows=ROWS,
        exercises=frozenset(load_exercises(concept)),
        package=frozenset(qkv.numpy.__all__),
        address=repository_address(),
    )
    found = problems(chapter)
    assert not found, "\n".join(found)


def test_chapters_are_numbered_by_concept() -> None:
    assert CHAPTERS
    assert [path.name for path in CHAPTERS if not path.stem[:2].isdecimal()] == []


def test_rows_name_the_sources_in_full() -> None:
    assert len(ROWS) == 8 + 12 + 12 + 9 + 12 + 5
    assert all(ROWS.values())


# A chapter of one concept, `toy`, that keeps every rule; the faults below are planted in it.


def code_cell(number: int, source: str, outputs: list[Any], **metadata: Any) -> Any:
    cell = new_code_cell(source, id=f"toy-{number:02d}", outputs=outputs, metadata=metadata)
    cell.execution_count = number
    return cell


def result(number: int, text: str, **more: Any) -> Any:
    return new_output(
        "execute_result", {"text/plain": text, **more}, execution_count=number, metadata={}
    )


def toy_cells() -> list[Any]:
    view = {VIEW_MIME: {"model_id": "widget-0001", "version_major": 2, "version_minor": 0}}
    cells = [
        code_cell(1, "import numpy as np", []),
        code_cell(2, "assert 1 + 1 == 2", [], tags=["covers-000-1"]),
        code_cell(3, "draw()", [], mystnb={"image": {"alt": "A line that rises."}}),
        code_cell(
            4,
            "explore(toys.fills, n=[1, 2])\nassert toys.fills(n=1)",
            [result(4, "Sliders, “toy”", **view)],
        ),
        code_cell(5, "import torch\nprint(1)", [new_output("stream", name="stdout", text="1\n")]),
    ]
    cells[2].outputs = [new_output("display_data", {"image/png": "iVBORw0KGgo=\n"}, metadata={})]
    for number in range(1, 5):
        name, place = f"toy-{number}", len(cells)
        cells.append(new_markdown_cell(f"### Exercise {name} · Count", id=f"toy-text-{number}"))
        count = 4 + 2 * number
        ask = f'answer = ...\ncheck("{name}", answer)'
        cells.append(code_cell(count, ask, [result(count, f"○ {name}: not answered yet.")]))
        solution = code_cell(count + 1, f'check("{name}", 2)', [result(count + 1, f"✓ {name}: ok")])
        solution.metadata.update(tags=["solution", "hide-cell"], jupyter={"source_hidden": True})
        cells.append(solution)
        assert len(cells) == place + 3
    return cells


def toy(change: Callable[[list[Any]], object] = lambda cells: None, address: str = "") -> Chapter:
    cells = toy_cells()
    change(cells)
    state = {"_anywidget_id": EXPLORER_ID, "title": "toy"}
    model = {"model_module": "anywidget", "model_name": "AnyModel", "state": state}
    block = {"state": {"widget-0001": model}, "version_major": 2, "version_minor": 0}
    notebook = new_notebook(cells=cells, metadata={"widgets": {STATE_MIME: block}})
    text = normal_form(copy.deepcopy(notebook))
    return Chapter(
        concept="toy",
        notebook=nbformat.reads(text, as_version=4),
        text=text,
        rows={"000-1": frozenset({"toy"}), "000-2": frozenset({"tale"})},
        exercises=frozenset(f"toy-{number}" for number in range(1, 5)),
        package=frozenset({"softmax"}),
        address=address,
    )


def set_source(place: int, source: str) -> Callable[[list[Any]], object]:
    return lambda cells: cells[place].update(source=source)


def set_metadata(place: int, **metadata: Any) -> Callable[[list[Any]], object]:
    return lambda cells: cells[place].metadata.update(metadata)


def ready_setup_cell(
    address: str, count: int = 1, tags: list[str] | None = None, name: str = "toy"
) -> Any:
    cell = setup_cell(address, name)
    cell.execution_count = count
    cell.metadata.tags = tags or cell.metadata.tags
    return cell


def put_first(cell: Any) -> Callable[[list[Any]], object]:
    """Insert a cell that has run, so that the others ran one later."""

    def change(cells: list[Any]) -> None:
        for other in cells:
            if other.cell_type == "code":
                other.execution_count += 1
        cells.insert(0, cell)

    return change


FAULTS: dict[str, tuple[Callable[[list[Any]], object], str]] = {
    "never run": (lambda cells: cells[1].update(execution_count=None), "count is None, expected 2"),
    "run twice": (lambda cells: cells[1].update(execution_count=9), "count is 9, expected 2"),
    "stored error": (
        lambda cells: cells[4].outputs.append(
            new_output("error", ename="ValueError", evalue="no", traceback=[])
        ),
        "an error is stored",
    ),
    "excused by a comment": (set_source(4, "# NBVAL_IGNORE_OUTPUT\nprint(1)"), "nbval obeys"),
    "excused by a tag": (set_metadata(4, tags=["nbval-ignore-output"]), "unknown tag"),
    "may raise": (set_metadata(4, tags=["raises-exception"]), "unknown tag raises-exception"),
    "captured": (set_source(4, "%%capture\nprint(1)"), "a magic"),
    "trailing semicolon": (set_source(4, "print(1);"), "trailing ';'"),
    "no Python": (set_source(4, "print(1"), "not plain Python"),
    "leftover": (lambda cells: cells[4].outputs.append(result(5, "<Axes: >")), "prints '<Axes"),
    "address": (
        lambda cells: cells[4].outputs.append(result(5, "<function f at 0x7f00aa>")),
        "prints '<function",
    ),
    "strange id": (lambda cells: cells[1].update(id="cell-2"), "cell-2: ids look like"),
    "lost widget": (
        lambda cells: cells[3].outputs[0].data[VIEW_MIME].update(model_id="widget-0007"),
        "state is not stored",
    ),
    "long cell": (set_source(4, "print(1)\n" * 17), "17 lines, at most 16"),
    "silent cell": (set_source(0, "x = 1"), "neither output nor assert"),
    "no alt text": (lambda cells: cells[2].metadata.clear(), "without alt text"),
    "package code again": (
        set_source(4, "def softmax(x):\n    return x\nprint(1)"),
        "defines softmax again",
    ),
    "torch too early": (set_source(0, "import qkv.torch as qt"), "before the first explorer"),
    "unknown row": (set_metadata(1, tags=["covers-000-1", "covers-000-9"]), "covers-000-9"),
    "row missing": (lambda cells: cells[1].metadata.clear(), "no cell covers-000-1"),
    "row not asserted": (set_source(1, "print(2)"), "on a cell that asserts nothing"),
    "row on prose": (set_metadata(5, tags=["covers-000-1"]), "on a cell that asserts nothing"),
    "too few exercises": (lambda cells: cells.__delitem__(slice(-3, None)), "3 exercises"),
    "unknown exercise": (set_source(6, 'check("toy-9", ...)'), "toy-9 is in only one"),
    "no heading": (set_source(5, "Count."), "no heading 'Exercise toy-1'"),
    "answered already": (
        lambda cells: cells[6].outputs[0].data.update({"text/plain": "✓ toy-1: right"}),
        "not stored as unanswered",
    ),
    "no solution": (set_source(7, "print(2)"), "no solution follows toy-1"),
    "solution first": (
        lambda cells: cells.insert(6, cells.pop(7)),
        "no solution follows toy-1",
    ),
    "wrong solution": (
        lambda cells: cells[7].outputs[0].data.update({"text/plain": "✗ toy-1: no"}),
        "not stored as accepted",
    ),
    "solution in sight": (set_metadata(7, tags=["solution"]), "in plain sight"),
    "solution unfolded": (set_metadata(7, jupyter={}), "in plain sight"),
    "set up for a repository that is not named": (
        lambda cells: cells.insert(0, ready_setup_cell(REPOSITORY)),
        "expected none as set-up cell for Colab",
    ),
    "hidden from the page": (set_metadata(4, tags=["remove-cell"]), "unknown tag remove-cell"),
    "explorer not asserted": (
        set_source(3, "explore(toys.fills, n=[1, 2])\ntoys.fills(n=1)"),
        "toy-04: no cell asserts what toys.fills returns",
    ),
    "no explorer": (
        lambda cells: cells[3].outputs[0].data.pop(VIEW_MIME),
        "no explorer",
    ),
}


def test_toy_chapter_keeps_every_rule() -> None:
    assert problems(toy()) == []


def test_toy_chapter_keeps_every_rule_with_its_set_up_cell() -> None:
    assert problems(toy(put_first(ready_setup_cell(REPOSITORY)), REPOSITORY)) == []


@pytest.mark.parametrize(
    "change",
    {
        "missing": lambda cells: None,
        "of another repository": put_first(ready_setup_cell(f"{REPOSITORY}-2")),
        "not first": lambda cells: cells.insert(1, ready_setup_cell(REPOSITORY, count=2)),
        "beside an old one": lambda cells: cells.__setitem__(
            slice(0, 0), [ready_setup_cell(REPOSITORY), ready_setup_cell(REPOSITORY, name="old")]
        ),
        "folded too": put_first(ready_setup_cell(REPOSITORY, tags=["remove-cell", "hide-cell"])),
    }.items(),
    ids=lambda item: item[0],
)
def test_another_set_up_cell_is_noticed(change: tuple[str, Callable[[list[Any]], object]]) -> None:
    said = f"toy: expected that of {REPOSITORY} as set-up cell for Colab: make notebooks"
    assert said in problems(toy(change[1], REPOSITORY))


@pytest.mark.parametrize("fault", FAULTS)
def test_broken_rule_is_noticed(fault: str) -> None:
    plant, said = FAULTS[fault]
    assert any(said in problem for problem in problems(toy(plant))), problems(toy(plant))


def test_other_form_is_noticed() -> None:
    chapter = toy()
    other = dataclasses.replace(chapter, text=chapter.text.replace("\n ", "\n  "))
    assert any("not as tools/run_notebooks.py stores it" in line for line in problems(other))


def test_no_rule_without_a_fault() -> None:
    """Planting every fault in turn makes every rule speak at least once."""
    silent = set(RULES)
    for plant, _ in FAULTS.values():
        broken = toy(plant)
        silent -= {rule for rule in silent if list(rule(broken))}
    assert {rule.__name__ for rule in silent} == {"stored_in_normal_form"}  # tested above
