"""The book's build: one address, no other host, and the theme options that survive it."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
from PIL import Image
from sphinx.errors import ConfigError

from qkv.notebooks.widget_state import VIEW_MIME
from tools.colab import setup_cell

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "extensions"))
css = importlib.import_module("slim_output.css")
figures = importlib.import_module("slim_output.figures")
no_external_requests = importlib.import_module("no_external_requests")
public_addresses = importlib.import_module("public_addresses")

PAPER = "https://arxiv.org/abs/1706.03762"
REPOSITORY = "https://github.com/someone/some-book"
OUTSIDE_LINK = re.compile(r'href="((?:https?:)?//[^"]+)"')
FACTS = "```{facts}\nAll of it takes *{time}*.\n```"
ADDRESS = re.compile(r"^( +(?:repository_address|binder_address|html_baseurl)): .*$", re.MULTILINE)


def lay_out(folder: Path, *, text: str = "", style: str = "") -> Path:
    """A book of two pages and a notebook, with the real settings but addresses, and real looks."""
    config, addresses = ADDRESS.subn(r'\1: ""', (ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert addresses == 3
    (folder / "_config.yml").write_text(config, encoding="utf-8")
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: book/index\nchapters: [{file: book/more}, {file: chapters/tiny}]\n",
        encoding="utf-8",
    )
    for name in ("extensions", "templates", "assets", "live", "progress"):
        shutil.copytree(ROOT / "book" / name, folder / "book" / name)
    shutil.copy(ROOT / "book" / "references.bib", folder / "book")
    for name in ("LICENSE", "pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder)
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    (folder / "book" / "index.md").write_text(
        f"# A book\n\nA [paper]({PAPER}) on $Q$.\n\n{text}\n", encoding="utf-8"
    )
    (folder / "book" / "more.md").write_text("# More\n\n$$ d_k $$\n", encoding="utf-8")
    with (folder / "book" / "assets" / "site.css").open("a", encoding="utf-8") as sheet:
        sheet.write(style)
    (folder / "chapters").mkdir()
    cells = [setup_cell(REPOSITORY, "tiny"), nbformat.v4.new_markdown_cell("# Tiny", id="tiny-01")]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, folder / "chapters" / "tiny.ipynb")
    return folder


def build(folder: Path, repository: str | None = None) -> subprocess.CompletedProcess[str]:
    stand_ins = ("QKV_REPOSITORY", "QKV_BINDER")
    environment = {k: v for k, v in os.environ.items() if k not in stand_ins}
    if repository is not None:
        environment["QKV_REPOSITORY"] = repository
    command = [str(Path(sys.executable).parent / "jupyter-book"), "build", ".", "--all", "-W"]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )


def outside_links(folder: Path) -> dict[str, set[str]]:
    html = folder / "_build" / "html"
    return {
        page.relative_to(html).as_posix(): set(OUTSIDE_LINK.findall(page.read_text("utf-8")))
        for page in html.rglob("*.html")
    }


def settings(**values: object) -> SimpleNamespace:
    """Stands in for Sphinx's configuration, with nothing set but `values`."""
    unset = {
        **dict.fromkeys(("repository_address", "binder_address", "html_baseurl"), ""),
        "html_theme_options": {},
        "language": "en",
    }
    return SimpleNamespace(**(unset | values))


@pytest.fixture(scope="module")
def unset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = lay_out(tmp_path_factory.mktemp("unset"), text=FACTS)
    process = build(folder)
    assert process.returncode == 0, process.stdout + process.stderr
    return folder


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = lay_out(tmp_path_factory.mktemp("known"))
    process = build(folder, REPOSITORY)
    assert process.returncode == 0, process.stdout + process.stderr
    return folder


def test_without_an_address_only_the_text_links_out(unset: Path) -> None:
    links = outside_links(unset)
    assert links.pop("book/index.html") == {PAPER}
    assert set(links) == {"book/more.html", "chapters/tiny.html", "index.html", "search.html"}
    assert not set().union(*links.values())


def test_facts_stand_in_the_place_of_their_names(unset: Path) -> None:
    page = (unset / "_build" / "html" / "book" / "index.html").read_text("utf-8")
    assert re.search(r"<p>All of it takes <em>\d+ h \d+ min</em>\.</p>", page)


def test_the_address_makes_the_buttons(known: Path) -> None:
    links = outside_links(known)
    colab = "https://colab.research.google.com/github/someone/some-book/blob/main/chapters/"
    assert f"{colab}tiny.ipynb" in links["chapters/tiny.html"]
    assert not any("colab" in link for link in links["book/more.html"])
    page = (known / "_build" / "html" / "chapters" / "tiny.html").read_text("utf-8")
    assert "<title>Tiny" in page
    assert "enable_custom_widget_manager" not in page, "the set-up cell is for Colab alone"
    for page in ("book/index.html", "book/more.html", "chapters/tiny.html"):
        assert REPOSITORY in links[page]
        assert any(link.startswith(f"{REPOSITORY}/issues/new?") for link in links[page])
    everything = set().union(*links.values()) - {PAPER}
    site = "https://someone.github.io/some-book/"
    assert all(link.startswith((REPOSITORY, colab, site)) for link in everything)


def test_theme_options_of_both_kinds_survive(known: Path) -> None:
    """Without sphinx.recursive_update, html_theme_options would wipe what html: has set."""
    page = (known / "_build" / "html" / "book" / "more.html").read_text("utf-8")
    assert "Search the book" in page, "set in html_theme_options"
    assert "CC BY 4.0" in page, "set as html: extra_footer"


def test_the_setting_alone_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QKV_REPOSITORY", raising=False)
    monkeypatch.delenv("QKV_BINDER", raising=False)
    config = settings(repository_address=f"{REPOSITORY}/", html_theme_options={"kept": 1})
    public_addresses.apply_addresses(None, config)
    assert config.repository_address == REPOSITORY
    assert config.html_theme_options["repository_url"] == REPOSITORY
    assert config.html_theme_options["use_issues_button"]
    assert config.html_theme_options["kept"] == 1


@pytest.mark.parametrize(
    ("variable", "wrong", "message"),
    [
        ("QKV_REPOSITORY", "someone/some-book", "OWNER/REPO"),
        ("QKV_REPOSITORY", "https://github.com/someone", "OWNER/REPO"),
        ("QKV_REPOSITORY", "http://x/a/b", "OWNER/REPO"),
        ("QKV_REPOSITORY", f"{REPOSITORY}.git", "OWNER/REPO"),
        ("QKV_BINDER", "mybinder.org", "binder_address must look like https://mybinder.org"),
        ("QKV_BINDER", "http://mybinder.org", "got 'http://mybinder.org'"),
        ("QKV_BINDER", "https://mybinder.org/?x=1", "binder_address must look like"),
    ],
)
def test_an_address_that_no_link_can_be_made_of(
    variable: str, wrong: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, wrong)
    config = settings(repository_address=REPOSITORY)
    with pytest.raises(ConfigError, match=re.escape(message)):
        public_addresses.apply_addresses(None, config)


@pytest.mark.parametrize("place", ["https://mybinder.org/", "https://hub.example:8443/binder"])
def test_binder_is_known_to_the_page(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QKV_REPOSITORY", REPOSITORY)
    monkeypatch.setenv("QKV_BINDER", place)
    config = settings()
    public_addresses.apply_addresses(None, config)
    assert config.binder_address == place.rstrip("/")
    assert config.repository_address == REPOSITORY


def test_binder_needs_a_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QKV_REPOSITORY", raising=False)
    monkeypatch.delenv("QKV_BINDER", raising=False)
    with pytest.raises(ConfigError, match="set repository_address too"):
        public_addresses.apply_addresses(None, settings(binder_address="https://mybinder.org"))


def test_a_page_that_loads_from_elsewhere_stops_the_build(tmp_path: Path) -> None:
    folder = lay_out(tmp_path, style='@import "https://fonts.example/b.css";')
    with (folder / "book" / "templates" / "search-button-field.html").open("a") as template:
        template.write('<script src="https://cdn.example/a.js"></script>')
    process = build(folder)
    assert process.returncode != 0
    assert "book/index.html loads https://cdn.example/a.js" in process.stderr
    assert "_static/site.css loads https://fonts.example/b.css" in process.stderr


def test_sliders_without_their_state_stop_the_build(tmp_path: Path) -> None:
    """As JupyterLab leaves them by itself: a view of a widget, and nothing to draw it from."""
    folder = lay_out(tmp_path)
    path = folder / "chapters" / "tiny.ipynb"
    notebook = nbformat.read(path, as_version=4)
    view = {"model_id": "0f" * 16, "version_major": 2, "version_minor": 0}
    shown = nbformat.v4.new_output("display_data", {VIEW_MIME: view, "text/plain": "Sliders"})
    notebook.cells.append(nbformat.v4.new_code_cell("explore()", id="tiny-02", outputs=[shown]))
    nbformat.write(notebook, path)
    process = build(folder)
    assert process.returncode != 0
    message = "cell tiny-02: the state of its sliders was not saved: run `make notebooks`"
    assert message in process.stderr


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.html", '<script src="//x.example/a"></script>'),
        ("page.html", '<link rel="stylesheet" href="https://x.example/a">'),
        ("page.html", '<link rel="preconnect" href="https://x.example/a">'),
        ("page.html", '<img alt="" src="https://x.example/a">'),
        ("page.html", '<img alt="" srcset="a.png 1x, https://x.example/a 2x">'),
        ("page.html", '<iframe src="HTTPS://x.example/a"></iframe>'),
        ("page.html", '<meta http-equiv="refresh" content="0; url=https://x.example/a">'),
        ("page.html", '<p style="background: url(https://x.example/a)">'),
        ("page.html", "<style>@font-face { src: url('https://x.example/a') }</style>"),
        ("page.html", '<script type="module">import x from "https://x.example/a";</script>'),
        ("page.html", '<svg><image href="https://x.example/a"/></svg>'),
        ("sheet.css", '@import url("https://x.example/a");'),
        ("sheet.css", "@font-face { src: url(//x.example/a) }"),
        ("script.js", 'const x = await import("https://x.example/a");'),
        ("script.js", "fetch('https://x.example/a')"),
    ],
)
def test_the_guard_sees_every_way_of_loading(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    [(file, found)] = no_external_requests.outside_loads(tmp_path)
    assert file == name
    assert found.lower().endswith("//x.example/a")


@pytest.mark.parametrize(
    "text",
    [
        '<a href="https://x.example/a">a paper</a>',
        '<link rel="canonical" href="https://x.example/a">',
        '<img alt="" src="data:image/png;base64,AA//BB=="><script src="../a.js"></script>',
        '<svg xmlns="http://www.w3.org/2000/svg"><use href="#a"/></svg>',
        "<pre>&lt;script src=&quot;https://x.example/a&quot;&gt;</pre>",
        '<script type="application/json">{"code": "import x from \'https://x.example/a\'"}</script>',
    ],
)
def test_the_guard_lets_links_and_text_be(text: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    assert not list(no_external_requests.outside_loads(tmp_path))


def test_unused_rules_are_dropped_and_no_others() -> None:
    sheet = (
        '@charset "UTF-8";/* note */:root{--a:1}.btn,.card{x:1}.card .btn{y:2}.gone>a{z:3}'
        "@media (max-width:9px){.gone{a:b}}@media print{.btn:not(.card,.gone),p{c:d}}"
        "@keyframes spin{0%{e:f}to{g:h}}.show\\:x{i:j}"
    )
    kept = css.without_unused_rules(sheet, {"btn"})
    assert kept == (
        '@charset "UTF-8";:root{--a:1}.btn{x:1}@media print{p{c:d}}@keyframes spin{0%{e:f}to{g:h}}'
    )


def test_figures_lose_weight_and_no_colour() -> None:
    ramp = np.zeros((120, 200, 4), np.uint8)
    ramp[..., 3] = 255
    ramp[:40, :, 0] = np.arange(200)  # more colours than are kept
    ramp[40:, :] = (0, 114, 178, 255)
    ramp[80:, 100:, 3] = 0
    before = BytesIO()
    Image.fromarray(ramp).save(before, "PNG", compress_level=1)
    after = figures.quantize(before.getvalue())
    assert len(after) < len(before.getvalue())
    seen = np.asarray(Image.open(BytesIO(after)).convert("RGB"))
    assert (seen[60] == (0, 114, 178)).all()
    assert (seen[100, 150] == 255).all(), "transparent is white"
    assert figures.quantize(after) == after


def test_a_figure_says_its_size() -> None:
    name = "a" * 64 + ".png"
    text = f'<img alt="x" src="../_images/{name}" /> <img alt="y" src="../_images/logo.png" />'
    sized = figures.add_sizes(text, {name: (20, 10)})
    assert sized == text.replace("<img alt=", '<img width="20" height="10" loading="lazy" alt=', 1)
    assert figures.add_sizes(sized, {name: (20, 10)}) == sized
