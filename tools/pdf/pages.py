"""Read the built pages in the order of their sidebar, without what is for a screen alone."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urldefrag

from bs4 import BeautifulSoup, Tag

from qkv.notebooks.widget_state import STATE_MIME, VIEW_MIME

FIRST = "book/index.html"
BIBLIOGRAPHY = "bibliography"
# What a page has for hands, and what stands there for readers without JavaScript.
NOT_PRINTED = ".headerlink, .qkv-live-bar, template, noscript, button, link, style"
HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
# Names and brackets of code, which have the colour of its text.
UNCOLOURED = ".highlight span:is(.n, .nn, .nx, .p, .pm, .w)"
# The scripts that draw explorers, and the one that gives them their words.
DRAWING = re.compile(r"_static/(site|explorers|playground|model/load_model)\.js")


@dataclass
class Page:
    """A page of the book: where it stands, and its article.

    Attributes:
        file: its address below the book's folder, such as chapters/05_masks.html.
        title: as the sidebar has it: "5 · Masks".
        part: the caption above it in the sidebar, "" for the first page.
        address: its public address; empty while the book has none.
    """

    file: str
    title: str
    part: str
    article: Tag
    address: str = ""
    styles: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """05_masks: short, and no other page's."""
        return Path(self.file).stem

    @property
    def is_chapter(self) -> bool:
        return self.file.startswith("chapters/")

    def resolve(self, link: str) -> tuple[str, str]:
        """(file, fragment) that a link of this page leads to."""
        path, fragment = urldefrag(link)
        there = posixpath.join(posixpath.dirname(self.file), path)
        return posixpath.normpath(there) if path else self.file, fragment


@dataclass(frozen=True)
class Entry:
    """A line of the sidebar."""

    file: str
    title: str
    part: str


def contents(book: Path) -> list[Entry]:
    """All pages of the book, in their order.

    Raises:
        FileNotFoundError: the book is not built.
    """
    return list(_entries(BeautifulSoup((book / FIRST).read_bytes(), "lxml")))


def _entries(first: BeautifulSoup) -> Iterator[Entry]:
    part = ""
    for tag in first.select("nav.bd-links p.caption, nav.bd-links a[href]"):
        text = tag.get_text(" ", strip=True)
        if tag.name == "p":
            part = text
            continue
        path = urldefrag(str(tag["href"])).url
        file = posixpath.normpath(posixpath.join(posixpath.dirname(FIRST), path)) if path else FIRST
        yield Entry(file, text, part)


def read_page(book: Path, entry: Entry) -> Page:
    """One page, with what its explorers are drawn from and without what is for a screen alone."""
    soup = BeautifulSoup((book / entry.file).read_bytes(), "lxml")
    article = soup.select_one("article.bd-article")
    assert article is not None, entry.file
    page = Page(entry.file, entry.title, entry.part, article)
    for formula in article.find_all(class_="katex"):
        _name_formula(formula)
    for tag in article.select(NOT_PRINTED):
        tag.decompose()
    for script in article.find_all("script"):
        if script.get("type") not in (STATE_MIME, VIEW_MIME):
            script.decompose()
    for image in article.find_all("img", src=True):
        image.attrs.pop("loading", None)  # what is not on the screen yet is printed too
        image["src"] = _below(page, image, "src")
    for code in article.select(UNCOLOURED):
        code.unwrap()  # each tag of a page is one of the PDF, and code has most of them
    for link in soup.find_all("link", rel=["stylesheet", "canonical"]):
        if "canonical" in link["rel"]:
            page.address = str(link["href"])
        else:
            page.styles.append(_below(page, link, "href"))
    for script in soup.find_all("script", src=DRAWING):
        page.scripts.append(_below(page, script, "src"))
    assert soup.head is not None
    # Explorers of one page share a state, which a page has in its head.
    for state in soup.head.find_all("script", type=STATE_MIME):
        article.insert(0, state.extract())
    return page


def _name_formula(formula: Tag) -> None:
    """Give a formula its TeX as the text that stands for it: a PDF keeps no MathML, nor what is
    hidden from screen readers."""
    mathml = formula.find(class_="katex-mathml")
    drawn = formula.find(class_="katex-html")
    assert isinstance(mathml, Tag)
    assert isinstance(drawn, Tag)
    tex = mathml.find("annotation")
    assert isinstance(tex, Tag)
    if formula.find_parent(HEADINGS) is None:  # else the outline would say both
        formula["role"], formula["aria-label"] = "img", tex.get_text().strip()
    mathml.decompose()
    del drawn["aria-hidden"]


def _below(page: Page, tag: Tag, attribute: str) -> str:
    """The address of a file of the book, from the book's folder."""
    link = str(tag[attribute])
    if re.match(r"\w+:", link):  # an image that is written into the page
        return link
    path, *query = link.split("?", 1)
    return "?".join([page.resolve(path)[0], *query])
