"""Every link of the built book leads somewhere: to a file, and to a place in it."""

from __future__ import annotations

import functools
import gzip
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from qkv.language import ENGLISH, languages

BOOK = Path(__file__).parents[2] / "_build" / "html"
PAGES = sorted(set(BOOK.rglob("*.html")) - set(BOOK.glob("_static/**/*")))  # not templates


class Page(HTMLParser):
    """The places of a page that a link can lead to, and the links on it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.ids.add(value or "")
            elif name in ("href", "src"):
                self.links.add(value or "")
            elif name == "srcset":
                self.links.update(part.split()[0] for part in (value or "").split(","))


@functools.cache
def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def broken(path: Path) -> list[str]:
    """The links of one page that lead nowhere; links to other hosts are not followed."""
    problems = []
    for link in sorted(read(path).links):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = path.parent / unquote(parts.path) if parts.path else path
        if target.is_dir():
            target /= "index.html"
        place = unquote(parts.fragment)
        if not target.is_file():
            problems.append(f"{link}: no such file")
        elif place and target.suffix == ".html" and place not in read(target).ids:
            problems.append(f"{link}: no such place")
    return problems


def test_there_is_a_book() -> None:
    assert PAGES, "build it first: make html"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(BOOK).as_posix())
def test_every_link_leads_somewhere(path: Path) -> None:
    problems = broken(path)
    assert not problems, "\n".join(problems)


def test_broken_links_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text('<h2 id="here">Here</h2><a name="there"></a>')
    page = tmp_path / "a.html"
    page.write_text(
        '<a href="b.html#here"></a><a href="b.html#there"></a><a href="#self" id="self"></a>'
        '<a href="b.html#gone"></a><a href="c.html"></a><img src="d.png"><a href="#no"></a>'
        '<img srcset="e.png 2x"><a href="https://example.org/x"></a><a href="mailto:a@b.c"></a>'
    )
    assert broken(page) == [
        "#no: no such place",
        "b.html#gone: no such place",
        "c.html: no such file",
        "d.png: no such file",
        "e.png: no such file",
    ]


ONLY_LEADING_ON = {BOOK / "index.html", *(BOOK / one / "index.html" for one in languages())}
WITH_FOOTER = [path for path in PAGES if path not in ONLY_LEADING_ON]


@pytest.mark.parametrize("path", WITH_FOOTER, ids=lambda path: path.relative_to(BOOK).as_posix())
def test_a_page_leads_to_the_licences_of_code_by_others(path: Path) -> None:
    targets = {(path.parent / link).resolve() for link in read(path).links if ":" not in link}
    assert BOOK / "_static" / "third-party-notices.txt" in targets


TRANSLATED = {
    path: BOOK / path.relative_to(BOOK / one)
    for one in languages()
    for path in PAGES
    if one != ENGLISH and path.is_relative_to(BOOK / one)
}


@pytest.mark.parametrize("path", TRANSLATED, ids=lambda path: path.relative_to(BOOK).as_posix())
def test_a_page_in_another_language_has_the_same_anchors(path: Path) -> None:
    assert read(path).ids == read(TRANSLATED[path]).ids


def weight(path: Path) -> int:
    """Compressed bytes of a page and of the scripts, styles and pictures that it names."""
    linked = {(path.parent / urlsplit(link).path).resolve() for link in read(path).links}
    parts = {path, *(file for file in linked if file.suffix in (".js", ".css", ".png", ".svg"))}
    return sum(len(gzip.compress(file.read_bytes())) for file in parts if file.is_file())


READ = [path for path in TRANSLATED if path in WITH_FOOTER and path.name != "search.html"]


@pytest.mark.parametrize("path", READ, ids=lambda path: path.relative_to(BOOK).as_posix())
def test_a_page_in_another_language_weighs_at_most_a_tenth_more(path: Path) -> None:
    assert weight(path) <= 1.1 * weight(TRANSLATED[path])


ANCHORS = Path(__file__).with_name("anchors.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("line", ANCHORS, ids=lambda line: line.split()[0])
def test_links_from_elsewhere_lead_on(line: str) -> None:
    """A page keeps the anchors that it had, of sections and cells, wherever their matter is now."""
    page, *anchors = line.split()
    gone = set(anchors) - read(BOOK / "chapters" / f"{page}.html").ids
    assert not gone, f"{page} has lost {sorted(gone)}: see anchors in CONTRIBUTING.md"
