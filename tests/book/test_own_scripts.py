"""Which scripts of a page are the book's own, and what becomes of a page with others."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

from qkv.live.content_security_policy import OWN_SCRIPTS, hash_source, inline_hashes
from tests.book.test_book import REPOSITORY, ROOT, build, lay_out

sys.path.append(str(ROOT / "book" / "extensions"))
foreign_scripts = importlib.import_module("own_scripts").foreign_scripts


def test_a_template_that_writes_another_script_stops_the_build(tmp_path: Path) -> None:
    folder = lay_out(tmp_path)
    with (folder / "book" / "templates" / "search-button-field.html").open("a") as template:
        template.write("<script>\n  slipped_in()</script>")
    process = build(folder)
    assert process.returncode != 0
    source = hash_source("\n  slipped_in()")
    assert f"chapters/tiny.html runs 'slipped_in()' ({source})" in process.stderr
    assert not (folder / "_build" / "html" / OWN_SCRIPTS).exists()


def test_the_book_names_its_own_scripts_for_the_server(tmp_path: Path) -> None:
    """With the repository's buttons too; the build itself names any script that is missing."""
    folder = lay_out(tmp_path)
    process = build(folder, REPOSITORY)
    assert process.returncode == 0, process.stdout + process.stderr
    html = folder / "_build" / "html"
    own = json.loads((html / OWN_SCRIPTS).read_text("utf-8"))
    page = inline_hashes((html / "chapters" / "tiny.html").read_text("utf-8"))
    assert set(page.scripts) < set(own["scripts"])
    assert set(page.handlers) <= set(own["handlers"])


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ("<script>a()</script>", "runs 'a()'"),
        ("<p><SCRIPT type=module>a()</SCRIPT>", "runs 'a()'"),
        ("<img src=x onerror=a()>", "runs 'a()'"),
        ("<a href='javascript:a()'>x</a>", "loads 'javascript:a()'"),
        ("<a href=' java\nscript:a()'>x</a>", "loads 'javascript:a()'"),
        ("<form action='JavaScript:a()'>", "loads 'JavaScript:a()'"),
        ("<script src='../_static/live/thebe/index.js'></script>", "loads '../_static/live/thebe"),
        ("<script src='../_sources/chapters/a.ipynb'></script>", "loads '../_sources/chapters"),
        ("<script src='data:,a()'></script>", "loads 'data:,a()'"),
        ("<script src='_static/../_images/a.js'></script>", "loads '_static/../_images/a.js'"),
    ],
)
def test_another_script_is_seen(html: str, said: str) -> None:
    [problem] = foreign_scripts(html, {hash_source("own()")})
    assert problem.startswith(said)


@pytest.mark.parametrize(
    "html",
    [
        "<script>own()</script><b onclick='own()'>",
        "<script src='../_static/live/toolbar.js?v=0a1b2c3d'></script>",
        "<script defer src='_static/scripts/bootstrap.js'></script><script src='searchindex.js'>",
        "<script type='application/json'>{\"a\": 1}</script>",
        "<p>javascript: a word</p><a href='https://x.example/?javascript:'>x</a>",
    ],
)
def test_the_books_own_are_let_through(html: str) -> None:
    assert not list(foreign_scripts(html, {hash_source("own()")}))
