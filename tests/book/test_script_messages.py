"""A page in another language sets the words of its scripts before any of them runs."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from contextvars import copy_context
from pathlib import Path

import pytest
from sphinx.application import Sphinx

from qkv.language import get_language, gettext, using_language
from tests.helpers.node import node

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "extensions"))
script_messages = importlib.import_module("script_messages")

MESSAGE = "{done} of {total} done"  # book/progress/button.js asks for it
CALL = f"""
const fonts = {{ addEventListener() {{}} }};
globalThis.document = {{ querySelectorAll: () => [], fonts, documentElement: {{}} }};
globalThis.ResizeObserver = class {{}};
globalThis.matchMedia = () => ({{ addEventListener() {{}} }});
globalThis.addEventListener = () => {{}};
const run = (file) => (0, eval)(require("fs").readFileSync(file, "utf8"));
process.argv.slice(1).forEach(run);
console.log(gettext({json.dumps(MESSAGE)}, {{ done: 2, total: 6 }}));
"""


def built(folder: Path, language: str) -> Path:
    """A book of one page; what a build sets in its context stays in it."""
    folder.mkdir()
    (folder / "index.rst").write_text("Page\n====\n\nText.\n")
    settings = {
        "extensions": ["script_messages"],
        "html_theme": "basic",
        "html_static_path": [str(ROOT / "book" / "assets" / "site.js")],
        "html_js_files": [["site.js", {"defer": "defer", "priority": 100}]],
        "language": language,
    }
    out, trees = folder / "html", folder / "trees"
    app = Sphinx(folder, None, out, trees, "html", settings, status=None, warning=None)
    app.build()
    assert get_language() == language
    return out


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("books")
    return {name: copy_context().run(built, folder / name, name) for name in ("en", "ko")}


def scripts(book: Path) -> list[str]:
    page = (book / "index.html").read_text("utf-8")
    return re.findall(r'<script defer="defer" src="_static/([\w.]+)', page)


def test_the_words_stand_before_who_asks_for_them(books: dict[str, Path]) -> None:
    assert scripts(books["ko"]) == ["messages.js", "site.js"]
    assert scripts(books["en"]) == ["site.js"]
    assert not (books["en"] / "_static" / "messages.js").exists()


def test_a_script_says_them_in_the_language_of_the_page(books: dict[str, Path]) -> None:
    said = {}
    for name, book in books.items():
        files = [str(book / "_static" / script) for script in scripts(book)]
        command = [node(), "-e", CALL, *files]
        said[name] = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    with using_language("ko"):
        translated = gettext(MESSAGE)
    assert said == {"en": "2 of 6 done", "ko": translated.format(done=2, total=6)}


def test_titles_of_chapters_are_among_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_messages, "gettext", str.upper)
    messages = json.loads(script_messages.script().partition("=")[2].rstrip(";\n"))
    assert messages["Masks"] == "MASKS"
    assert MESSAGE in messages


def test_every_call_of_a_script_is_found() -> None:
    texts = {path: path.read_text("utf-8") for path in (ROOT / "book").rglob("*.js")}
    calls = sum(len(re.findall(r"\bgettext\((?!name\))", text)) for text in texts.values())
    assert len(list(script_messages.asked_for())) == calls > 20
    assert MESSAGE in script_messages.asked_for()


class WithoutBodies(ast.NodeTransformer):
    """Leaves what runs as a module is loaded."""

    def visit_FunctionDef(self, function: ast.FunctionDef) -> ast.FunctionDef:
        function.body = []
        return function


def asks(tree: ast.AST) -> bool:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return "gettext" in {ast.unparse(call.func) for call in calls}


def test_no_extension_asks_for_words_as_it_is_loaded() -> None:
    """Nobody has chosen a language then."""
    asking = 0
    for path in (ROOT / "book" / "extensions").rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        asking += asks(tree)
        assert not asks(WithoutBodies().visit(tree)), path.name
    assert asking > 3
