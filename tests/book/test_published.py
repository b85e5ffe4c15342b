"""A book whose address is set: canonical links, cards, sitemap, version, a form for mistakes."""

from __future__ import annotations

import importlib
import json
import re
import sys
from base64 import b64encode
from html import unescape
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import nbformat
import pytest
import yaml
from docutils import nodes
from PIL import Image

from tests.book.test_book import REPOSITORY, ROOT, build, lay_out, settings

sys.path.append(str(ROOT / "book" / "extensions"))
page_footer = importlib.import_module("page_footer")
page_metadata = importlib.import_module("page_metadata")
public_addresses = importlib.import_module("public_addresses")

SITE = "https://someone.github.io/some-book/"
PAGES = ("book/index", "book/more", "CHANGELOG", "chapters/03_attention")
ALT = 'A "query" & its keys: <b>'
VERSION = page_footer.version_of(ROOT)


class Head(HTMLParser):
    """A page's meta tags by name, its canonical address, and its links by their text."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.tags: dict[str, str] = {}
        self.canonical = ""
        self.links: dict[str, str] = {}
        self._link = ""
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "meta":
            name = values.get("property") or values.get("name", "")
            assert name in ("viewport", "") or name not in self.tags, f"{name} stands twice"
            self.tags[name] = values.get("content", "")
        elif tag == "link" and values.get("rel") == "canonical":
            self.canonical = values["href"]
        elif tag == "a":
            self._link = values.get("href", "")

    def handle_data(self, data: str) -> None:
        if self._link and data.strip():
            self.links[data.strip()] = self._link
            self._link = ""


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built book whose repository is known, with a chapter that has a figure."""
    folder = lay_out(tmp_path_factory.mktemp("published"), text="Sentence two? Three.")
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: book/index\nchapters:\n"
        + "".join(f"- file: {page}\n" for page in PAGES[1:])
    )
    buffer = BytesIO()
    Image.new("RGB", (100, 40), "navy").save(buffer, "PNG")
    picture = nbformat.v4.new_output(
        "display_data", {"image/png": b64encode(buffer.getvalue()).decode()}
    )
    figure = nbformat.v4.new_code_cell("figure()", id="tiny-02", outputs=[picture])
    figure.metadata["mystnb"] = {"image": {"alt": ALT}}
    notebook = nbformat.read(folder / "chapters" / "tiny.ipynb", as_version=4)
    text = "# *Query*, key, value\n\n*Read: 3 minutes. Exercises: 2. Going further: 1.*\n\nA & B."
    notebook.cells = [nbformat.v4.new_markdown_cell(text, id="tiny-01"), figure]
    nbformat.write(notebook, folder / "chapters" / "03_attention.ipynb")
    process = build(folder, REPOSITORY)
    assert process.returncode == 0, process.stdout + process.stderr
    return folder / "_build" / "html"


@pytest.mark.parametrize("page", PAGES)
def test_every_page_has_one_canonical_address(page: str, book: Path) -> None:
    head = Head(book / f"{page}.html")
    assert head.canonical == head.tags["og:url"] == f"{SITE}{page}.html"


def test_the_sitemap_names_every_page_once(book: Path) -> None:
    found = re.findall("<loc>(.*)</loc>", (book / "sitemap.xml").read_text("utf-8"))
    assert found == sorted(f"{SITE}{page}.html" for page in PAGES)


def test_a_card_is_the_pages_own_figure(book: Path) -> None:
    tags = Head(book / "chapters" / "03_attention.html").tags
    assert tags["og:title"] == "Query, key, value"
    assert tags["og:type"] == "article"
    assert tags["og:description"] == tags["description"] == "A & B."
    assert tags["og:image:alt"] == ALT
    assert tags["twitter:card"] == "summary_large_image"
    card = Image.open(book / tags["og:image"].removeprefix(SITE)).convert("RGB")
    assert card.size == (1200, 630)
    assert (tags["og:image:width"], tags["og:image:height"]) == ("1200", "630")
    navy = (0, 0, 128)
    inside, outside = (599, 314), (499, 314)  # 200 by 80, in the middle
    assert card.getpixel(inside) == card.getpixel((501, 276)) == navy
    assert card.getpixel(outside) == card.getpixel((600, 273)) == (255, 255, 255)


def test_a_page_without_a_figure_has_that_of_the_book(book: Path) -> None:
    tags = Head(book / "book" / "index.html").tags
    assert tags["og:image"] == f"{SITE}_cards/chapters/03_attention.png"
    assert tags["og:type"] == "website"
    assert tags["og:description"].startswith("A paper on ")


def test_the_root_says_what_the_first_page_says(book: Path) -> None:
    root, first = Head(book / "index.html"), Head(book / "book" / "index.html")
    assert root.canonical == first.canonical
    graph = {name: text for name, text in first.tags.items() if name[:3] in ("og:", "twi")}
    assert graph
    assert graph.items() <= root.tags.items()


def test_the_foot_leads_to_what_has_changed(book: Path) -> None:
    head = Head(book / "chapters" / "03_attention.html")
    assert head.links[f"Version {VERSION}: what has changed"] == "../CHANGELOG.html"
    changes = (book / "CHANGELOG.html").read_text("utf-8")
    assert f">[{VERSION}]" in changes


def test_a_search_finds_nothing_in_the_changelog(book: Path) -> None:
    index = json.loads(
        (book / "searchindex.js").read_text("utf-8").removeprefix("Search.setIndex(")[:-1]
    )
    number = index["docnames"].index("CHANGELOG")
    found = {
        word
        for words in (index["terms"], index["titleterms"])
        for word, pages in words.items()
        if pages == number or (isinstance(pages, list) and number in pages)
    }
    assert not found
    assert index["terms"], "other pages are found"


@pytest.mark.parametrize("page", PAGES)
def test_the_form_for_a_mistake_knows_the_page(page: str, book: Path) -> None:
    text = (book / f"{page}.html").read_text("utf-8")
    places = re.findall(r"<a ([^>]*issues/new[^>]*)>", text)
    assert [("qkv-report" in place, "btn-source-issues" in place) for place in places] == [
        (False, True),
        (True, False),
    ]
    title = Head(book / f"{page}.html").tags["og:title"]
    for place in places:
        [address] = re.findall('href="([^"]*)"', place)
        filled = parse_qs(urlsplit(unescape(address)).query)
        assert filled == {
            "template": ["mistake.yml"],
            "title": [f"Mistake in {title}"],
            "chapter": [title],
            "address": [f"{SITE}{page}.html"],
            "version": [VERSION],
            "language": ["English"],
        }
    assert text.count("report_mistake.js") == 1


def test_the_form_has_a_field_for_all_that_is_filled_in() -> None:
    link = page_footer.report_address(REPOSITORY, "Masks", f"{SITE}a.html", "1.0.0")
    filled = parse_qs(urlsplit(link).query)
    [template] = filled["template"]
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / template).read_text("utf-8"))
    fields = {field["id"]: field["type"] for field in form["body"]}
    names = filled.keys() - {"template", "title"} | {"section"}
    assert {fields[name] for name in names} == {"input"}
    assert "section" in (ROOT / "book" / "assets" / "report_mistake.js").read_text("utf-8")
    assert form["title"] == "Mistake in "


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["One. Two? Three."], "One. Two? Three."),
        (["Read: 3 minutes. Exercises: 2. Going further: 1.", "One."], "One."),
        (["One. " + "two " * 50 + "end."], "One."),
        (["one " * 60 + "end. Two."], "one " * 60 + "end."),
        (["First.", "Second."], "First."),
        ([], ""),
    ],
)
def test_a_description_is_made_of_whole_sentences(texts: list[str], expected: str) -> None:
    section = nodes.section("", *(nodes.paragraph("", "", nodes.Text(text)) for text in texts))
    document = SimpleNamespace(findall=section.findall)
    assert page_metadata.describe(document) == expected


@pytest.mark.parametrize(
    ("repository", "setting", "site"),
    [
        ("", "", ""),
        (REPOSITORY, "", SITE),
        ("https://github.com/Some-One/Book", "", "https://some-one.github.io/Book/"),
        ("https://github.com/Some-One/some-one.github.io", "", "https://some-one.github.io/"),
        (REPOSITORY, "https://book.example", "https://book.example/"),
        ("", "https://book.example/en/", "https://book.example/en/"),
    ],
)
def test_the_site_is_the_repositorys_unless_a_setting_says_otherwise(
    repository: str, setting: str, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QKV_REPOSITORY", repository)
    config = settings(html_baseurl=setting)
    public_addresses.apply_addresses(None, config)
    assert config.html_baseurl == site
