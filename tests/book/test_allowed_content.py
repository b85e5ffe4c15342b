"""What a contributed page may not hold stops the build, with the page, the cell and the mend."""

from __future__ import annotations

import copy
import importlib
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from qkv.exercises.checks import Verdict, check
from qkv.exercises.choices import VERDICTS_MIME
from qkv.notebooks.widget_state import EXPLORER_ID, STATE_MIME, VIEW_MIME
from tests.book.test_book import ROOT, build, lay_out

sys.path.append(str(ROOT / "book" / "extensions"))
allowed_content = importlib.import_module("allowed_content")
data_problems = importlib.import_module("allowed_content.notebook").data_problems
html_problems = importlib.import_module("allowed_content.html").html_problems
widget_problems = importlib.import_module("allowed_content.widgets").widget_problems

SECRET = "what lies outside the book"
RUN = "<script>alert(1)</script>"
POSTSCRIPT = "JSFQUy1BZG9iZS0zLjA="  # %!PS-Adobe-3.0, which Pillow would hand to Ghostscript
VERDICTS = check("masks-3")._repr_mimebundle_()[VERDICTS_MIME]
VIEW = {"model_id": "widget-0001", "version_major": 2, "version_minor": 0}

# What a Markdown cell writes, and what the build says of it.
MARKDOWN = {
    "script": (RUN, "HTML '<script>"),
    "handler": ('<b onclick="alert(1)">x</b>', "HTML '<b onclick="),
    "address": ('<a href="javascript:alert(1)">x</a>', "HTML '<a href="),
    "include": ("```{include} SECRET\n```", "the directive '{include}'"),
    "literalinclude": ("```{literalinclude} SECRET\n```", "the directive '{literalinclude}'"),
    "raw-file": ("```{raw} html\n:file: SECRET\n```", "the directive '{raw}'"),
    "raw-url": ("```{raw} html\n:url: http://127.0.0.1:9/x\n```", "the directive '{raw}'"),
    "csv": ("```{csv-table}\n:file: SECRET\n```", "the directive '{csv-table}'"),
    "figure": ("```{figure} /../secret.png\n```", "the directive '{figure}'"),
    "image": ("```{image} /../secret.png\n```", "the directive '{image}'"),
    "rst": ("```{eval-rst}\n.. include:: SECRET\n```", "the directive '{eval-rst}'"),
    "code-cell": ("```{code-cell}\nprint(1)\n```", "the directive '{code-cell}'"),
    "colons": (":::{include} SECRET\n:::", "the directive '{include}'"),
    "in-list": ("- a\n\n  > ```{include} SECRET\n  > ```", "the directive '{include}'"),
    "automodule": ("```{automodule} antigravity\n```", "the directive '{automodule}'"),
    "download": ("{download}`x </../secret.txt>`", "the role {download}"),
    "cite": ("{cite}`rush2018annotated`", "the role {cite}"),
    "teaching": ('{wrong}`masks-3: "AB"`', "the role {wrong}"),
    "link": ("[x](../../secret.txt)", "a link to '../../secret.txt'"),
    "link-path": ("[x](path:/../secret.txt)", "a link to 'path:/../secret.txt'"),
    "link-coded": ("[x](%2e%2e/%2e%2e/secret.txt)", "a link to '%2e%2e/%2e%2e/secret.txt'"),
    "link-other": ("[x](ftp://127.0.0.1/x)", "a link to 'ftp:"),
    "picture": ("![x](../../secret.png)", "a picture from '../../secret.png'"),
    "definition": ("[far]: ../../secret.txt", "the definition of the link 'FAR'"),
    "picture-far": ("![x](https://x.example/a.png)", "a picture from 'https:"),
}
# What a code cell's output holds.
OUTPUTS = {
    "html": ({"text/html": f"<p>{RUN}</p>"}, "HTML '<script>"),
    "html-parts": ({"text/html": ["<img src=x on", "error=alert(1)>"]}, "HTML '<img src=x onerror"),
    "javascript": ({"application/javascript": "alert(1)"}, "of type application/javascript"),
    "svg": ({"image/svg+xml": "<svg onload='alert(1)'/>"}, "of type image/svg+xml"),
    "markdown": ({"text/markdown": RUN}, "of type text/markdown"),
    "latex": ({"text/latex": r"\href{javascript:alert(1)}{x}"}, "of type text/latex"),
    "no-png": ({"image/png": POSTSCRIPT}, "of type image/png that is no PNG"),
    "verdicts": ({VERDICTS_MIME: VERDICTS | {"script": RUN}}, "that no check wrote"),
    "view": ({VIEW_MIME: VIEW | {"more": "</SCRIPT>" + RUN}}, "that no widget wrote"),
}
# Metadata of a cell.
METADATA = {
    "slide": ({"slideshow": {"slide_type": "slide", "x": 1}}, "metadata slideshow holds 'x'"),
    "image-class": ({"mystnb": {"image": {"classes": "x"}}}, "mystnb.image holds 'classes'"),
    "lexer": ({"mystnb": {"text_lexer": "html"}}, "mystnb holds 'text_lexer'"),
    "tag": ({"tags": ["a qkv-live-bar"]}, "the tag 'a qkv-live-bar'"),
    "anchor": ({"anchors": ["a b"]}, "the anchor 'a b'"),
}


def hostile_notebook(folder: Path) -> dict[str, Any]:
    """One cell for each case, and a setting that makes myst-nb run the first."""
    notebook: dict[str, Any] = json.loads((folder / "chapters" / "tiny.ipynb").read_text("utf-8"))
    ran = f"open({str(folder / 'ran.txt')!r}, 'w').close()"
    cells = [{"cell_type": "code", "id": "runs", "source": ran, "outputs": [], "metadata": {}}]
    for name, (text, _) in MARKDOWN.items():
        text = text.replace("SECRET", str(folder.parent / "secret.txt"))
        cells.append({"cell_type": "markdown", "id": name, "source": text, "metadata": {}})
    for name, (data, _) in OUTPUTS.items():
        output = {"output_type": "display_data", "data": data, "metadata": {}}
        cells.append(cells[0] | {"id": name, "source": "0", "outputs": [output]})
    cells += [cells[0] | {"id": name, "metadata": m} for name, (m, _) in METADATA.items()]
    cells.append({"cell_type": "raw", "id": "raw", "source": RUN, "metadata": {}})
    notebook["cells"] += [
        cell | {"execution_count": 1} if "outputs" in cell else cell for cell in cells
    ]
    notebook["metadata"]["mystnb"] = {"execution_mode": "force"}
    return notebook


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A book in which everything is tried at once, and what its build says."""
    outer = tmp_path_factory.mktemp("hostile")
    (outer / "secret.txt").write_text(SECRET)
    (outer / "secret.png").write_bytes((ROOT / "book" / "readme.png").read_bytes())
    (outer / "book").mkdir()
    folder = lay_out(outer / "book", text=f"# Page\n\n{RUN}\n\n```{{raw}} html\n:file: x\n```\n")
    (folder / "book" / "more.md").write_text(
        "---\nmystnb:\n  execution_mode: force\n---\n# More\n\n"
        "```{glossary}\nterm\n     ```{include} /../secret.txt\n     ```\n```\n"
    )
    (folder / "chapters" / "tiny.ipynb").write_text(json.dumps(hostile_notebook(folder)))
    process = build(folder)
    assert process.returncode != 0
    return folder, process.stderr


@pytest.mark.parametrize("name", [*MARKDOWN, *OUTPUTS, *METADATA])
def test_the_build_names_the_cell(name: str, refused: tuple[Path, str]) -> None:
    _, said = (MARKDOWN | OUTPUTS | METADATA)[name]
    lines = [line for line in refused[1].splitlines() if f"chapters/tiny: cell {name}: " in line]
    assert any(said in line for line in lines), refused[1]
    assert all(": " in line.partition(said)[2] for line in lines if said in line), "no mend"


def test_the_build_names_what_no_cell_holds(refused: tuple[Path, str]) -> None:
    said = refused[1]
    assert "chapters/tiny: the notebook's metadata holds 'mystnb'" in said
    assert "chapters/tiny: cell raw: a cell of type 'raw'" in said
    assert "book/index: HTML '<script>" in said
    assert "book/index: the directive '{raw}'" in said
    assert "book/more: front matter is nothing that a page can hold" in said
    assert "book/more: the directive '{include}'" in said


def test_nothing_is_read_fetched_or_run(refused: tuple[Path, str]) -> None:
    folder, _ = refused
    assert not (folder / "ran.txt").exists()
    files = [path for path in (folder / "_build").rglob("*") if path.is_file()]
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    "html",
    [
        RUN,
        "<SCRIPT>",
        "<script/src=x>",
        "<svg/onload=alert(1)>",
        '<p onclick="x">',
        "<p title=x>",
        '<p class="qkv-live-bar">',
        '<p id="qkv-text">',
        '<p style="position: fixed">',
        "<p\nclass='x'>",
        "<!-- --><b>",
        "<!--><img src=x onerror=alert(1)>-->",
        "<![CDATA[x]]>",
        "<?xml?>",
        "<math><mtext><b>",
        "<b <script>alert(1)</script>",
        "<textarea><b title='</textarea><img src=x onerror=alert(1)>'>",
        "<iframe srcdoc=x>",
        '<meta http-equiv="refresh" content="0">',
        "<base href=x>",
        "<form action=x>",
        "<b\0>",
        "a < b",
        "<",
    ],
)
def test_html_that_could_run_or_lead_away_is_named(html: str) -> None:
    assert list(html_problems(html))


@pytest.mark.parametrize(
    "html",
    [
        Verdict("masks-1", "wrong", "a < b", hint="<pad>")._repr_html_(),
        '<table border="1" class="dataframe"><thead><tr><th></th></tr></thead></table>',
        '<td colspan="2">a</td><th scope="row">b</th>',
        '<details class="qkv-backward"><summary>A <em>guess</em></summary>\n</details>',
        "<details open>a<br/>b<br>c</details> a > b &lt; c",
        '<span lang="ko">밥</span>',
    ],
)
def test_html_that_chapters_need_passes(html: str) -> None:
    assert not list(html_problems(html))


def test_docutils_itself_inserts_no_file_and_no_html() -> None:
    """Also where the rules do not look: in docstrings."""
    env = SimpleNamespace(settings={"file_insertion_enabled": True, "raw_enabled": True})
    allowed_content.refuse_pages(None, env, [])
    assert env.settings == {"file_insertion_enabled": False, "raw_enabled": False}


def explorer(**state: Any) -> dict[str, Any]:
    """The stored state of one widget, as a chapter has it."""
    model = {"model_module": "anywidget", "model_name": "AnyModel", "model_module_version": "1"}
    block = {"version_major": 2, "version_minor": 0}
    own = {"_anywidget_id": EXPLORER_ID, "_esm": stored_module(), **state}
    return {STATE_MIME: block | {"state": {"widget-0001": model | {"state": own}}}}


def stored_module() -> str:
    return importlib.import_module("qkv.notebooks.widget_state").PLACEHOLDER_MODULE


def test_the_state_of_an_explorer_passes_and_no_other() -> None:
    assert not list(widget_problems({}))
    assert not list(widget_problems(explorer(title="a < b")))
    [said] = widget_problems(explorer(_esm="export default { render: () => alert(1) }"))
    assert said.startswith("the widget 'widget-0001' has a script of its own: ")
    [said] = widget_problems(explorer(_css="body { display: none }"))
    assert "has a style sheet of its own" in said
    assert not list(widget_problems(explorer(_dom_classes=["qkv-explore"])))
    [said] = widget_problems(explorer(_dom_classes=["qkv-explore", "qkv-live-bar"]))
    assert "has the classes ['qkv-explore', 'qkv-live-bar']" in said
    [said] = widget_problems(explorer(_anywidget_id="other.Widget"))
    assert "is a 'other.Widget'" in said
    [said] = widget_problems(explorer(title=f"</SCRIPT >{RUN}"))
    assert "holds HTML" in said
    other = copy.deepcopy(explorer())
    model = other[STATE_MIME]["state"]["widget-0001"]
    model |= {"model_module": "@jupyter-widgets/controls", "model_name": "HTMLModel"}
    [said] = widget_problems(other)
    assert "is a 'HTMLModel' of '@jupyter-widgets/controls'" in said
    [said] = widget_problems({**explorer(), "text/html": {}})
    assert "more than their state" in said


def with_part(**changes: Any) -> dict[str, Any]:
    """The verdicts of masks-3 with another part."""
    return VERDICTS | {"parts": [VERDICTS["parts"][0] | changes]}


def test_the_verdicts_that_check_stores_are_allowed() -> None:
    assert not list(data_problems(VERDICTS_MIME, VERDICTS))


@pytest.mark.parametrize(
    "table",
    [
        RUN,
        None,
        [VERDICTS],
        {**VERDICTS, "more": 1},
        {name: value for name, value in VERDICTS.items() if name != "parts"},
        VERDICTS | {"exercise": "masks-1"},  # which lets choose nothing
        VERDICTS | {"exercise": "os-3"},
        VERDICTS | {"exercise": ["masks-3"]},
        VERDICTS | {"verdicts": {"0": ["right", "", ""]}},
        VERDICTS | {"verdicts": [*VERDICTS["verdicts"], ["open", "", ""]]},
        VERDICTS | {"verdicts": [*VERDICTS["verdicts"], ["right", ""]]},
        VERDICTS | {"verdicts": [*VERDICTS["verdicts"], ["right", "", {"html": RUN}]]},
        VERDICTS | {"verdicts": [*VERDICTS["verdicts"], ["right", "", "x" * 1001]]},
        VERDICTS | {"parts": VERDICTS["parts"] * 2},
        VERDICTS | {"parts": [RUN]},
        with_part(more=1),
        with_part(others=3),
        with_part(others=-1),
        with_part(others=True),
        with_part(choices=["AE"]),
        with_part(choices={RUN: 1}),
        with_part(choices={"EA": 1}),
        with_part(choices={"AE": "1"}),
    ],
)
def test_no_other_verdicts_are(table: Any) -> None:
    (problem,) = data_problems(VERDICTS_MIME, table)
    assert problem.endswith("that no check wrote: run `make notebooks`")
