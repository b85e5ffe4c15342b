"""A page that holds a playground loads what it needs; other pages load nothing of it."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from ipywidgets import Widget

from qkv.explore.playground import playground
from qkv.notebooks.stored_form import normal_form
from qkv.notebooks.widget_state import STATE_MIME, VIEW_MIME
from tests.book.test_book import build, lay_out

ASKED = re.compile(
    r'(?:src|href)="\.\./_static/([\w/]*(?:explorers|playground|load_model)\.\w+)\?v='
)


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built book of three pages; the notebook shows a playground."""
    folder = lay_out(tmp_path_factory.mktemp("playground"))
    path = folder / "chapters" / "tiny.ipynb"
    notebook = nbformat.read(path, as_version=4)
    box = playground(title="Any sentence", hint="Type one.")
    view = {"model_id": box.model_id, "version_major": 2, "version_minor": 0}
    data = {VIEW_MIME: view, "text/plain": repr(box)}
    shown = nbformat.v4.new_output("execute_result", data, execution_count=1)
    cell = nbformat.v4.new_code_cell("playground()", id="tiny-02", outputs=[shown])
    notebook.cells.append(cell)
    notebook.metadata["widgets"] = {STATE_MIME: Widget.get_manager_state()}
    path.write_text(normal_form(notebook), "utf-8")
    process = build(folder)
    assert process.returncode == 0, process.stdout + process.stderr
    return folder / "_build" / "html"


def test_the_page_asks_for_its_scripts_and_no_other_does(html: Path) -> None:
    page = (html / "chapters" / "tiny.html").read_text("utf-8")
    style, script = ["explorers.css", "playground.css"], ["model/load_model.js", "playground.js"]
    assert sorted(ASKED.findall(page)) == sorted([*style, "explorers.js", *script])
    tags = {name: re.search(rf"<script [^>]*{name}[^>]*>", page)[0] for name in script}
    assert all("defer" in tag for tag in tags.values())
    assert page.index(tags["model/load_model.js"]) < page.index(tags["playground.js"])
    assert ASKED.findall((html / "book" / "more.html").read_text("utf-8")) == []


def test_without_javascript_the_page_says_what_is_missing(html: Path) -> None:
    page = (html / "chapters" / "tiny.html").read_text("utf-8")
    (text,) = re.findall(r"<noscript><div[^>]*>(.*?)</noscript>", page)
    assert "Any sentence" in text
    assert "needs JavaScript" in text


def test_no_template_of_a_script_is_left_in_the_book(html: Path) -> None:
    static = html / "_static"
    scripts = {path.name for path in (static / "model").iterdir()}
    assert scripts == {"load_model.js", "engine.js", "parameters.js"}
    assert "{{" not in (static / "model" / "load_model.js").read_text("utf-8")
    for name in ("load_model.js", "static_widgets.js", "static_widgets.css"):
        assert not (static / name).exists(), name
