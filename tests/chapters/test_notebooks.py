"""The chapters keep their rules, and each rule notices when it is broken."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from qkv.notebooks.stored_form import normal_form
from qkv.notebooks.widget_state import EXPLORER_ID, STATE_MIME, VIEW_MIME
from tools.colab import setup_cell
from tools.notebook_rules import RULES, Chapter, code, problems, teaching
from tools.notebook_rules.length import core_length, further_length, reading_times
from tools.notebook_rules.load import load_chapter, load_rows, load_terms
from tools.notebook_rules.prose import count_words

ROOT = Path(__file__).parents[2]
REPOSITORY = "https://github.com/someone/some-book"
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapter_keeps_every_rule(path: Path) -> None:
    chapter = load_chapter(path)
    found = problems(chapter)
    assert not found, "\n".join(found)


def test_chapters_are_numbered_by_concept() -> None:
    assert CHAPTERS
    assert [path.name for path in CHAPTERS if not path.stem[:2].isdecimal()] == []


def test_rows_name_the_sources_in_full() -> None:
    rows = load_rows()
    assert len(rows) == 8 + 12 + 12 + 9 + 12 + 5
    assert all(rows.values())


def test_terms_of_the_glossary_name_their_chapter() -> None:
    terms = load_terms()
    assert terms["query"] == terms["weight"] == 3
    assert terms["residual connection"] == 7
    assert "gradient" not in terms  # to be known before


# A chapter of one concept, `toy`, that keeps every rule; the faults below are planted in it.


def code_cell(number: int, source: str, outputs: list[Any], **metadata: Any) -> Any:
    cell = new_code_cell(source, id=f"toy-{number:02d}", outputs=outputs, metadata=metadata)
    cell.execution_count = number
    return cell


def result(number: int, text: str, **more: Any) -> Any:
    return new_output(
        "execute_result", {"text/plain": text, **more}, execution_count=number, metadata={}
    )


TOY_TOP = """\
# Toys

A **query** asks, and the query is heard.

*Read: 4 minutes. Exercises: 12. Going further: 0.*
"""
TOY_BREAKS = "## What breaks without it\n\nAll."
TOY_REMEMBER = "## What to remember\n\nA query asks."
TOY_FURTHER = "## Going further\n\n### Is there more?\n\nYes."


def toy_cells() -> list[Any]:
    view = {VIEW_MIME: {"model_id": "widget-0001", "version_major": 2, "version_minor": 0}}
    cells = [
        code_cell(1, "import numpy as np", [], tags=["hide-input"]),
        code_cell(2, "assert 1 + 1 == 2", [], tags=["covers-000-1"]),
        code_cell(3, "draw()", [], mystnb={"image": {"alt": "A line that rises."}}),
        code_cell(
            4,
            "explore(toys.fills, n=[1, 2])\nassert toys.fills(n=1)",
            [result(4, "Sliders, “toy”", **view)],
        ),
        code_cell(5, "print(1)", [new_output("stream", name="stdout", text="1\n")]),
    ]
    cells[2].outputs = [new_output("display_data", {"image/png": "iVBORw0KGgo=\n"}, metadata={})]
    cells.append(new_markdown_cell(TOY_TOP, id="toy-top"))
    cells.append(new_markdown_cell(TOY_BREAKS, id="toy-breaks"))
    cells.append(new_markdown_cell(TOY_REMEMBER, id="toy-remember"))
    for number in range(1, 5):
        name = f"toy-{number}"
        heading = (
            "## Exercises\n\n" * (number == 1)
            + f"### Exercise {name} · Count\n\n*About 3 minutes.*"
        )
        cells.append(new_markdown_cell(heading, id=f"toy-text-{number}"))
        count = 4 + 2 * number
        ask = f'answer = ...\ncheck("{name}", answer)'
        cells.append(code_cell(count, ask, [result(count, f"○ {name}: not answered yet.")]))
        solution = code_cell(count + 1, f'check("{name}", 2)', [result(count + 1, f"✓ {name}: ok")])
        solution.metadata.update(tags=["solution", "hide-cell"], jupyter={"source_hidden": True})
        cells.append(solution)
    cells.append(new_markdown_cell(TOY_FURTHER, id="toy-further"))
    torch = 'import torch\nprint("torch")'
    cells.append(code_cell(14, torch, [new_output("stream", name="stdout", text="torch\n")]))
    cells.append(new_markdown_cell("## Sources and further reading", id="toy-sources"))
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
        number=3,
        terms={"query": 3, "head": 6, "token": 2},
    )


def set_source(place: int, source: str) -> Callable[[list[Any]], object]:
    return lambda cells: cells[place].update(source=source)


def append_text(place: int, text: str) -> Callable[[list[Any]], object]:
    return lambda cells: cells[place].update(source=f"{cells[place].source}\n\n{text}")


def set_metadata(place: int, **metadata: Any) -> Callable[[list[Any]], object]:
    return lambda cells: cells[place].metadata.update(metadata)


def ready_setup_cell(
    address: str, count: int = 1, tags: list[str] | None = None, name: str = "toy"
) -> Any:
    cell = setup_cell(address, name)
    cell.execution_count = count
    cell.metadata.tags = tags or cell.metadata.tags
    return cell


def use_what_a_fold_binds(cells: list[Any]) -> None:
    cells[0].update(source="hidden = 1")
    cells[4].update(source="print(hidden)")


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
    "a slide behind the core": (
        lambda cells: cells[-1].metadata.update(slideshow={"slide_type": "slide"}),
        "a slide type from Exercises on: take it out",
    ),
    "prose of code on a slide": (set_metadata(1, tags=["show-prose"]), "is for a Markdown cell"),
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
    "long cell": (set_source(4, "print(1)\n" * 13), "13 lines, at most 12"),
    "long class": (
        set_source(4, "class Long:\n" + "    x = 1\n" * 19 + "print(1)"),
        "21 lines, at most 20",
    ),
    "silent cell": (set_source(0, "x = 1"), "neither output nor assert"),
    "no alt text": (lambda cells: cells[2].metadata.clear(), "without alt text"),
    "package code again": (
        set_source(4, "def softmax(x):\n    return x\nprint(1)"),
        "defines softmax again",
    ),
    "torch too early": (set_source(0, "import qkv.torch as qt"), "before Going further"),
    "left to write": (append_text(5, "TODO: why so?"), "toy-top: TODO: why so?"),
    "unknown row": (set_metadata(1, tags=["covers-000-1", "covers-000-9"]), "covers-000-9"),
    "row missing": (lambda cells: cells[1].metadata.clear(), "no cell covers-000-1"),
    "row not asserted": (set_source(1, "print(2)"), "on a cell that asserts nothing"),
    "row on prose": (set_metadata(5, tags=["covers-000-1"]), "on a cell that asserts nothing"),
    "too few exercises": (lambda cells: cells.__delitem__(slice(17, 20)), "3 exercises"),
    "unknown exercise": (set_source(9, 'check("toy-9", ...)'), "toy-9 is in only one"),
    "no heading": (set_source(8, "## Exercises\n\nCount."), "no heading 'Exercise toy-1'"),
    "answered already": (
        lambda cells: cells[9].outputs[0].data.update({"text/plain": "✓ toy-1: right"}),
        "not stored as unanswered",
    ),
    "no solution": (set_source(10, "print(2)"), "no solution follows toy-1"),
    "solution first": (
        lambda cells: cells.insert(9, cells.pop(10)),
        "no solution follows toy-1",
    ),
    "wrong solution": (
        lambda cells: cells[10].outputs[0].data.update({"text/plain": "✗ toy-1: no"}),
        "not stored as accepted",
    ),
    "solution in sight": (set_metadata(10, tags=["solution"]), "in plain sight"),
    "solution unfolded": (set_metadata(10, jupyter={}), "in plain sight"),
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
    "long folded cell": (set_source(0, "import numpy\n" * 17), "17 lines, at most 16"),
    "another time": (append_text(5, "word " * 300), "expected the line *Read: 8 minutes"),
    "breaks before it is seen": (
        lambda cells: cells.insert(0, cells.pop(6)),
        "'the first explorer' must come before 'What breaks'",
    ),
    "two sections in a cell": (append_text(7, "## More"), "'## More' does not begin its cell"),
    "exercises before what to remember": (
        lambda cells: cells.append(cells.pop(7)),
        "'What to remember' must come before 'Exercises'",
    ),
    "nothing behind the core": (
        set_source(20, "## More"),
        "no heading '## Going further'",
    ),
    "a section that does not ask": (
        append_text(20, "### More of it"),
        "'More of it' under Going further is no question",
    ),
    "a name from a fold": (use_what_a_fold_binds, "toy-05: uses hidden, which only a folded cell"),
    "a term without its definition": (
        append_text(5, "Heads are several."),
        "toy-top: uses 'head' before a cell has it in bold",
    ),
    "long to read": (append_text(5, "word " * 2600), "minutes to read, at most 35"),
    "long answers": (
        append_text(5, f"<details>\n<summary>Guess</summary>\n\n{'word ' * 2600}\n\n</details>"),
        "minutes to read, at most 35",
    ),
    "much printed": (
        lambda cells: cells[4].outputs.append(
            new_output("stream", name="stdout", text="0.25 " * 2600)
        ),
        "minutes to read, at most 35",
    ),
    "long exercises": (
        lambda cells: cells[8].update(source=cells[8].source.replace("3 min", "30 min")),
        "the core has 39 minutes of exercises, at most 30",
    ),
    "an exercise without its time": (
        lambda cells: cells[8].update(source=cells[8].source.replace("*About 3 minutes.*", "")),
        "expected '*About 5 minutes.*' below the heading of toy-1",
    ),
    "too many asserts in sight": (
        set_source(4, "assert 1\nassert 2\nassert 3"),
        "visible asserts, at most 2",
    ),
    "long behind the core": (
        append_text(20, "word " * 3300),
        "Going further has 41.737 minutes to read, at most 40",
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


@pytest.mark.parametrize(
    ("fault", "rule", "concept"),
    [
        ("no explorer", teaching.has_explorer, "backward"),
        ("torch too early", code.torch_late, "devices"),
    ],
)
def test_a_chapter_owes_only_what_its_matter_has(
    fault: str, rule: Callable[[Chapter], Iterable[str]], concept: str
) -> None:
    chapter = toy(FAULTS[fault][0])
    excused = dataclasses.replace(chapter, concept=concept, exercises=frozenset())
    said = FAULTS[fault][1]
    assert any(said in problem for problem in rule(chapter))
    assert not any(said in problem for problem in rule(excused))


def test_reading_times_follow_one_rule() -> None:
    chapter = toy()
    length = core_length(chapter.notebook)
    assert (length.words, length.printed_words, length.lines) == (20, 1, 5)
    assert (length.explorers, length.playgrounds, length.figures) == (1, 0, 1)
    assert length.minutes == pytest.approx(21 / 80 + 5 / 5 + 2 + 0.5)
    assert length.exercises == {f"toy-{number}": 3 for number in range(1, 5)}
    further = further_length(chapter.notebook)
    assert (further.words, further.printed_words, further.lines) == (6, 1, 2)


def test_a_translated_chapter_takes_its_own_words_and_a_korean_one_weighs_more() -> None:
    english, korean = toy().notebook, toy().notebook
    top = next(cell for cell in korean.cells if cell.id == "toy-top")
    top.source = "# 장난감\n\n*읽기: 9분. 연습문제: 9분. 더 알아보기: 9분.*"
    elsewhere = core_length(english).words - count_words(
        "Toys A query asks, and the query is heard."
    )
    length = core_length(english, korean, "ko")
    assert length.words == elsewhere + 1
    assert length.minutes == pytest.approx(1.3 * (elsewhere + 2) / 80 + 5 / 5 + 2 + 0.5)
    assert reading_times(english, korean, "ko") == "*읽기: 4분. 연습문제: 12분. 더 알아보기: 1분.*"


def test_printed_source_counts_as_lines_and_hidden_output_as_nothing() -> None:
    source = new_output("stream", name="stdout", text="def f(x):\n\n    return x\n")
    chapter = toy(
        lambda cells: cells[4].update(source="print(inspect.getsource(f))", outputs=[source])
    )
    printed = core_length(chapter.notebook)
    assert (printed.printed_words, printed.lines) == (0, 7)
    hidden = core_length(toy(set_metadata(4, tags=["hide-cell"])).notebook)
    assert (hidden.printed_words, hidden.lines) == (0, 4)


def test_words_are_those_in_sight() -> None:
    text = """A **bold** `name_of(x)` and $x + y$ [[Who et al., 2017](https://x.example/1), [Other, 2018](https://x.example/2)].

| head | of a table |
|---|---|
| one | two |

<details>
<summary>Guess, then open</summary>

Four words stand here.

</details>
"""
    assert count_words(text) == 5 + 4 + 2 + 3
    assert count_words(text, folded=True) == 4


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
