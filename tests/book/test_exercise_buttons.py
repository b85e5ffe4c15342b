"""The form that a cell gets whose exercise lets choose; other cells get none."""

from __future__ import annotations

import importlib
import json
import re
import sys
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docutils import nodes
from docutils.utils import new_document

from qkv import language
from qkv.exercises import check
from qkv.exercises.choices import VERDICTS_MIME, Letters, Number, OneEach
from tests.book.test_book import ROOT

sys.path.append(str(ROOT / "book" / "extensions"))
exercise_buttons = importlib.import_module("exercise_buttons")

ASKS = 'answer_3 = ...  # letters\ncheck("masks-3", answer_3)'
TABLE = check("masks-3")._repr_mimebundle_()[VERDICTS_MIME]


def page_of(folder: Path, source: str, *tables: Any) -> tuple[list[nodes.Node], dict[str, Any]]:
    """What a page shows of one code cell, and what is noted of the page."""
    outputs = [{"output_type": "execute_result", "data": {VERDICTS_MIME: t}} for t in tables]
    cells = [
        {"source": "# A"},
        {"source": source, "outputs": [{"output_type": "stream"}, *outputs]},
    ]
    path = folder / "page.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    document = new_document("page")
    cell = nodes.container(nb_element="cell_code", cell_index=1)
    cell += [nodes.container(classes=["cell_input"]), nodes.container(classes=["cell_output"])]
    document += cell
    env = SimpleNamespace(docname="page", doc2path=lambda _: str(path), metadata={"page": {}})
    exercise_buttons.add_forms(SimpleNamespace(env=env), document)
    return list(cell.children), env.metadata["page"]


def test_the_form_stands_before_the_lines_for_an_answer_with_what_is_stored(tmp_path: Path) -> None:
    (form, source, output), noted = page_of(tmp_path, ASKS, TABLE)
    assert isinstance(form, nodes.raw)
    assert [source["classes"], output["classes"]] == [["cell_input"], ["cell_output"]]
    assert noted
    html = form.astext()
    stored = json.loads(unescape(html.split('data-verdicts="')[1].split('"')[0]))
    assert {"exercise": "masks-3", **stored} == TABLE
    assert html.count('aria-pressed="false"') == 5
    assert " hidden>" in html, "without JavaScript nothing of it is shown"


def test_it_stands_behind_code_that_belongs_to_the_question(tmp_path: Path) -> None:
    (source, form, _), _ = page_of(tmp_path, f"def faulty():\n    pass\n\n\n{ASKS}", TABLE)
    assert isinstance(form, nodes.raw)
    assert source["classes"] == ["cell_input"]


@pytest.mark.parametrize("tables", [(), (TABLE | {"exercise": "start-4"},)])
def test_without_a_table_of_its_own_nothing_is_stored_in_it(tmp_path: Path, tables: Any) -> None:
    (form, *_), noted = page_of(tmp_path, ASKS, *tables)
    assert "data-verdicts" not in form.astext()
    assert noted


@pytest.mark.parametrize(
    "source",
    [
        'answer_1 = ...  # four numbers\ncheck("masks-1", answer_1)',
        'check("masks-3", "AE")',
        'answer_3 = "AE"\ncheck("masks-3", answer_3)',
        'answer_3 = ...\ncheck("masks-30", answer_3)',
        "print(1)",
    ],
)
def test_no_other_cell_gets_a_form(tmp_path: Path, source: str) -> None:
    shown, noted = page_of(tmp_path, source, TABLE)
    assert len(shown) == 2
    assert not noted


def test_a_page_in_markdown_is_left_alone() -> None:
    env = SimpleNamespace(docname="page", doc2path=lambda _: "book/page.md")
    exercise_buttons.add_forms(SimpleNamespace(env=env), new_document("page"))


def test_each_kind_of_part_has_its_controls() -> None:
    """A group has its name, and what cannot be judged while it is left out is required."""
    parts = (Letters("AB", "a < b"), OneEach(("x", "y"), "YN"), Number(2, 2, "Weight"))
    html = exercise_buttons.form("masks-3", parts, None)
    assert "<legend>a &lt; b</legend>" in html
    assert html.count('<button type="button" aria-pressed="false">') == 2
    assert html.count('type="radio"') == html.count(" required><span>") == 4
    assert [html.count(f'name="masks-3-2-{n}"') for n in (1, 2)] == [2, 2]
    assert '<input type="number" required min="0" max="2" step="0.01" aria-label="Weight">' in html
    assert html.count("<fieldset") == html.count("</fieldset>") == html.count("<legend>") == 5


def test_labels_are_in_the_readers_language_and_answers_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    capitals = SimpleNamespace(gettext=str.upper)
    monkeypatch.setattr(language, "catalogue", lambda _: capitals)
    parts = (Letters("ab", "proof"), OneEach(("place",), ("yes", "no")), Number(2, 2, "weight"))
    html = exercise_buttons.form("masks-3", parts, None)
    assert 'aria-label="WEIGHT"' in html
    legends = re.findall("<legend>(.*?)</legend>", html)
    assert legends == ["PROOF", "CHOOSE ONE IN EACH LINE.", "PLACE", "WEIGHT"]
    assert re.findall("<span>(.*?)</span>", html) == ["yes", "no"]
    assert '">a</button>' in html


def test_words_of_a_table_cannot_leave_the_attribute() -> None:
    table = {"verdicts": [["wrong", '"><script>alert(1)</script>', "'"]], "parts": []}
    html = exercise_buttons.form("masks-3", (Letters("A"),), table)
    assert "<script" not in html
    assert json.loads(unescape(html.split('data-verdicts="')[1].split('"')[0])) == table
