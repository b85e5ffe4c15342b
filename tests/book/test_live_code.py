"""What the build does for live cells: a bar and a script where there are cells, files beside."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docutils import nodes
from sphinx.errors import ExtensionError

from tests.helpers.node import node
from tests.helpers.waiting import WAIT_SECONDS

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "extensions"))
live_code = importlib.import_module("live_code")

REPOSITORY = "https://github.com/someone/some-book"
BINDER = "https://mybinder.org"
PAGE = "chapters/03_attention"
BODY = "<h1>Title</h1><p>text</p><section><h1>Second</h1></section>"


class Links(HTMLParser):
    """Links of a piece of HTML, by their words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: dict[str, str] = {}
        self.address = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.address = dict(attrs).get("href") or ""

    def handle_data(self, data: str) -> None:
        if self.address:
            self.links[data] = self.address

    def handle_endtag(self, tag: str) -> None:
        self.address = ""


def page_with(*classes: str) -> nodes.document:
    tree = nodes.section()
    tree += nodes.container("", nodes.container(classes=["cell_input"]), classes=list(classes))
    return tree


def page_with_bar(tree: nodes.Node | None, repository: str = "", binder: str = "") -> Any:
    """What a page becomes: its body, and the scripts and sheets that it asks for."""
    added_files: list[tuple[str, dict[str, Any]]] = []
    app = SimpleNamespace(
        config=SimpleNamespace(repository_address=repository, binder_address=binder, language="en"),
        add_js_file=lambda name, **more: added_files.append((name, more)),
        add_css_file=lambda name, **more: added_files.append((name, more)),
    )
    context = {"body": BODY}
    live_code.add_bar(app, PAGE, "page.html", context, tree)
    return SimpleNamespace(body=context["body"], added_files=added_files)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of live cells, as the build lays them out."""
    folder = tmp_path_factory.mktemp("built")
    app = SimpleNamespace(
        outdir=str(folder), confdir=str(ROOT), builder=SimpleNamespace(format="html")
    )
    live_code.copy_own_files(app)
    live_code.copy_vendored_files(app, None)
    return folder


def test_a_page_with_cells_gets_the_bar_one_script_and_one_sheet() -> None:
    page = page_with_bar(page_with("cell"))
    assert page.added_files == [
        ("live/toolbar.js", {"loading_method": "defer"}),
        ("live/live.css", {}),
    ]
    assert page.body.count('class="qkv-live-bar"') == 1
    assert re.match(r'<h1>Title</h1>\s*(<!--.*?-->\s*)?<div class="qkv-live-bar"', page.body, re.S)


@pytest.mark.parametrize("tree", [None, nodes.section("", nodes.paragraph("", "words"))])
def test_a_page_without_cells_gets_nothing(tree: nodes.Node | None) -> None:
    page = page_with_bar(tree)
    assert (page.body, page.added_files) == (BODY, [])


def test_every_word_of_the_scripts_is_in_the_bar() -> None:
    """A message that is asked for and not there would be an error in a reader's hands."""
    bar = (ROOT / "book" / "live" / "toolbar.html").read_text(encoding="utf-8")
    there = set(re.findall(r'data-say="([^"]+)"', bar))
    files = [*(ROOT / "book" / "live").glob("*.js"), ROOT / "book" / "extensions" / "live_code.py"]
    scripts = "".join(file.read_text("utf-8") for file in files)
    state = r'"(?:off|starting|ready|busy|lost|failed)"'
    calls = rf'\b(?:lose|tell)\("([\w-]+)"|\b(?:say|leave)\({state}, "([\w-]+)"'
    names = {one or other for one, other in re.findall(calls, scripts)}
    assert len(names) > 10
    assert names <= there
    assert all(f'"{name}"' in scripts for name in there), "a message that nothing says"


def test_every_word_of_the_bar_and_its_scripts_is_a_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_code, "gettext", lambda message: "«»")
    bar = page_with_bar(page_with("cell"), REPOSITORY, BINDER).body
    bar = re.sub("|".join(BODY.split("</h1>")), "", bar)
    said = re.findall(r'(?:title|aria-label|data-question)="([^"]*)"', bar)
    said += re.sub(r"<[^>]*>", "\n", bar).split("\n")
    assert {text.strip() for text in said} == {"", "«»"}
    scripts = "".join(file.read_text("utf-8") for file in (ROOT / "book" / "live").glob("*.js"))
    assert "new Error(" in scripts
    assert not re.findall(r"(?:ariaLabel|alt|title|Label) = [`\"]|new Error\([`\"]", scripts)


def test_without_addresses_no_link_leads_out() -> None:
    page = page_with_bar(page_with("cell"))
    assert Links(page.body).links == {}
    assert "<code>make serve</code>" in page.body
    assert "{{" not in page.body.replace("{{…}}", "")


def test_binder_is_offered_where_both_addresses_are_known() -> None:
    links = Links(live_code.other_ways_to_run(PAGE, REPOSITORY, BINDER)).links
    place = "book%2Fchapters%2F03_attention.html"
    assert links == {
        "Open this page on Binder": f"{BINDER}/v2/gh/someone/some-book/main?urlpath={place}",
        "get the book": REPOSITORY,
    }
    assert Links(live_code.other_ways_to_run(PAGE, REPOSITORY, "")).links == {
        "get the book": REPOSITORY
    }
    assert (
        live_code.other_ways_to_run(PAGE, REPOSITORY, BINDER)
        in page_with_bar(page_with("cell"), REPOSITORY, BINDER).body
    )


def test_an_address_cannot_break_out_of_its_link() -> None:
    odd = 'https://hub.example/"><script>'
    assert "<script" not in live_code.other_ways_to_run(PAGE, REPOSITORY, odd)


def test_own_files_are_there_as_written(built: Path) -> None:
    own = {f.name for f in (ROOT / "book" / "live").iterdir() if f.suffix in (".js", ".css")}
    assert {"toolbar.js", "button_actions.js", "live.css"} <= own
    for name in own:
        text = (built / "_static" / "live" / name).read_bytes()
        assert text == (ROOT / "book" / "live" / name).read_bytes()
    assert not (built / "_static" / "live" / "toolbar.html").exists()


def test_no_third_party_code_knows_a_network_of_others(built: Path) -> None:
    """Thebe would fetch require.js, MathJax and unknown widgets from two of them."""
    theirs = list((ROOT / "node_modules" / "thebe" / "lib").glob("*.js"))
    hosts = ("cdnjs.cloudflare.com", "cdn.jsdelivr.net", "unpkg.com")
    assert any(hosts[0] in f.read_text("utf-8") for f in theirs), "the test would see nothing"
    for file in (built / "_static" / "live").rglob("*.*"):
        text = file.read_text(encoding="utf-8")
        assert not [host for host in hosts if f"//{host}" in text], file


def test_anywidget_is_a_module(built: Path) -> None:
    """It has one export, which takes Jupyter's two base classes; no loader of an older kind."""
    file = built / "_static" / "live" / "anywidget.js"
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"^define\(", text, re.MULTILINE)
    code = (
        f"const m = await import({file.as_uri()!r});"
        "const made = m.default({ DOMWidgetModel: class {}, DOMWidgetView: class {} });"
        "console.log(Object.keys(m), typeof made.AnyModel, typeof made.AnyView)"
    )
    module = file.with_suffix(".mjs")
    shutil.copy(file, module)
    code = code.replace(file.as_uri(), module.as_uri())
    done = subprocess.run(
        [node(), "--input-type=module", "-e", code],
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
    )
    module.unlink()
    assert done.stdout == "[ 'default' ] function function\n", done.stderr


def test_any_other_server_says_that_it_runs_nothing(built: Path) -> None:
    assert json.loads((built / "_live" / "server.json").read_text("utf-8")) == {
        "live": False,
        "message": "elsewhere",
    }


def test_a_missing_package_stops_the_build_and_says_how_to_get_it(tmp_path: Path) -> None:
    app = SimpleNamespace(
        outdir=str(tmp_path), confdir=str(tmp_path), builder=SimpleNamespace(format="html")
    )
    with pytest.raises(ExtensionError, match="make html fetches it"):
        live_code.copy_vendored_files(app, None)


def test_another_anywidget_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nbextension").mkdir()
    (tmp_path / "nbextension" / "index.js").write_text("define(['other'], f);")
    spec = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(live_code, "find_spec", lambda _: spec)
    with pytest.raises(ExtensionError, match=r"ends in no define\(\)"):
        live_code.anywidget_module()
    monkeypatch.setattr(live_code, "find_spec", lambda _: None)
    with pytest.raises(ExtensionError, match="not installed"):
        live_code.anywidget_module()


def test_a_build_of_another_kind_or_a_failed_one_gets_nothing(tmp_path: Path) -> None:
    for kind, error in (("gettext", None), ("html", ValueError())):
        app = SimpleNamespace(
            outdir=str(tmp_path), confdir=str(ROOT), builder=SimpleNamespace(format=kind)
        )
        live_code.copy_vendored_files(app, error)
    app.builder.format = "gettext"
    live_code.copy_own_files(app)
    assert list(tmp_path.iterdir()) == []
