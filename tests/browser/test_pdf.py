"""The printed book: all that its pages hold, and what a reader of a PDF needs to find it."""

from __future__ import annotations

import io
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pikepdf
import pypdfium2
import pytest
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Browser

from tools.pdf.__main__ import WHOLE, print_all
from tools.pdf.pages import HEADINGS, contents
from tools.pdf.printing import laid_out

ROOT = Path(__file__).parents[2]
IN_EVERY_RUN = ("01_start", "05_masks", "15_cost")
CHAPTERS = sorted(path.stem for path in (ROOT / "chapters").glob("*.ipynb"))
NAMES = [
    name if name in IN_EVERY_RUN else pytest.param(name, marks=pytest.mark.release)
    for name in [*CHAPTERS, WHOLE]
]
A4 = (595.3, 841.9)  # points
MARGIN = 51  # points above and below the text, where a page's title and number stand
LARGEST = 25_000_000  # bytes


@dataclass(repr=False)
class Printed:
    """One PDF, the pages that it was made of, and the document that was printed."""

    data: bytes
    sources: list[Tag]
    document: BeautifulSoup

    @cached_property
    def pdf(self) -> pikepdf.Pdf:
        return pikepdf.open(io.BytesIO(self.data))

    @cached_property
    def pages(self) -> list[tuple[str, str]]:
        """(text, what stands below it) of each page."""
        width, height = A4
        areas = [(0, MARGIN, width, height - MARGIN), (0, 0, width, MARGIN)]
        texts = [page.get_textpage() for page in pypdfium2.PdfDocument(self.data)]
        body, foot = ([text.get_text_bounded(*area) for text in texts] for area in areas)
        return list(zip(body, foot, strict=True))

    def text(self, first: int = 0) -> str:
        return plain("".join(body for body, _ in self.pages[first:]))

    @cached_property
    def places(self) -> dict[str, int]:
        """The index of the page that each link's target is on."""
        number = {page.obj.objgen: i for i, page in enumerate(self.pdf.pages)}
        return {n.lstrip("/"): number[to[0].objgen] for n, to in self.pdf.Root.Dests.items()}

    def tagged(self) -> Iterator[pikepdf.Dictionary]:
        """All elements of the structure tree."""
        waiting = [self.pdf.Root.StructTreeRoot]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += children(node)


def children(node: pikepdf.Dictionary) -> list[pikepdf.Dictionary]:
    below = node.get("/K", [])
    below = list(below) if isinstance(below, pikepdf.Array) else [below]
    return [one for one in below if isinstance(one, pikepdf.Dictionary) and "/S" in one]


def plain(text: str) -> str:
    """Letters alone: no spaces or ligatures, and hyphens as they are within a line."""
    text = re.sub("[\x02\ufffe]", "-", text)  # what pdfium reads where a hyphen ends a line
    return re.sub(r"[\s\u200b]", "", unicodedata.normalize("NFKC", text))


def print_one(name: str, browser: Browser, book: Path) -> Printed:
    entries = contents(book)
    [(_, html, data)] = print_all(browser, book, [name])
    files = [e.file for e in entries if name in (WHOLE, Path(e.file).stem)]
    soups = [BeautifulSoup((book / file).read_bytes(), "lxml") for file in files]
    sources = [soup.select("article.bd-article")[0] for soup in soups]
    return Printed(data, sources, BeautifulSoup(html, "lxml"))


def has_numbered_pages_of_a4(printed: Printed) -> None:
    for i, page in enumerate(printed.pdf.pages, start=1):
        assert [float(x) for x in page.mediabox[2:]] == pytest.approx(A4, abs=1)
        assert printed.pages[i - 1][1].strip() == (str(i) if i > 1 else "")


def is_tagged_and_says_its_language(printed: Printed) -> None:
    root = printed.pdf.Root
    assert root.MarkInfo.Marked
    assert str(root.Lang) == "en"
    said = printed.pdf.docinfo
    assert str(said["/Title"]) == printed.document.title.get_text()
    assert str(said["/Author"]) == printed.document.find("meta", {"name": "author"})["content"]
    assert "/CreationDate" not in said


def has_an_outline_of_the_headings(printed: Printed) -> None:
    with printed.pdf.open_outline() as outline:
        titles = [plain(item.title) for item in flat(outline.root)]
    headings = printed.document.find_all(HEADINGS)
    assert titles == [plain(heading.get_text()) for heading in headings]
    for source in printed.sources:
        for heading in source.find_all(HEADINGS):
            for part in heading.select(".headerlink, .katex-mathml"):
                part.extract()
            assert any(title.endswith(plain(heading.get_text())) for title in titles)


def flat(items: list[pikepdf.OutlineItem]) -> Iterator[pikepdf.OutlineItem]:
    for item in items:
        yield item
        yield from flat(item.children)


def has_links_that_lead_somewhere(printed: Printed) -> None:
    found = set()
    for page in printed.pdf.pages:
        for note in page.get("/Annots", []):
            if "/A" in note:
                assert re.match(r"https?://|mailto:", str(note.A.URI)), note.A.URI
            else:
                found.add(str(note.Dest).lstrip("/"))
    links = {str(a["href"]) for a in printed.document.select('a[href^="#"]')}
    assert links
    assert {link[1:] for link in links} <= found <= set(printed.places)
    ids = [tag["id"] for tag in printed.document.find_all(id=True)]
    assert len(ids) == len(set(ids))


def says_what_each_picture_shows(printed: Printed) -> None:
    figures = [node for node in printed.tagged() if node.get("/S") == "/Figure"]
    texts = Counter(plain(str(node["/Alt"])) for node in figures if "/Alt" in node)
    for node in figures:
        assert "/Alt" in node or any("/Alt" in one for one in below(node)), "a picture without text"
    images, formulas = [], []
    for source in printed.sources:
        images += [plain(str(image["alt"])) for image in source.find_all("img")]
        named = (tex for tex in source.find_all("annotation") if not tex.find_parent(HEADINGS))
        formulas += [plain(tex.get_text()) for tex in named]
    assert not Counter(images) - texts
    assert set(formulas) <= set(texts)
    drawn = [view for source in printed.sources for view in source.select(VIEWS)]
    assert texts.total() >= len(images) + len(drawn)


VIEWS = 'script[type$="widget-view+json"]'


def below(node: pikepdf.Dictionary) -> Iterator[pikepdf.Dictionary]:
    for child in children(node):
        yield child
        yield from below(child)


def shows_all_that_was_folded(printed: Printed) -> None:
    text = printed.text()
    for source in printed.sources:
        for fold in source.find_all("details"):
            for line in lines_of(fold):
                assert is_in(line, text), line


def lines_of(tag: Tag) -> Iterator[str]:
    """What is read in one go: lines of code, texts between formulas."""
    for part in tag.find_all(string=True):
        if part.find_parent(["pre", "math"]) is None and part.find_parent(class_="katex") is None:
            yield plain(part)
    for code in tag.find_all("pre"):
        yield from map(plain, code.get_text().splitlines())


def is_in(line: str, text: str) -> bool:
    """Whether a text stands there, in one piece or on two pages."""
    return line in text or any(
        line[:i] in text and line[i:] in text for i in range(1, len(line)) if len(line) > 8
    )


def has_its_solutions_at_the_end(printed: Printed) -> None:
    places = [n for name, n in printed.places.items() if name.startswith("solution-")]
    code = [cell for source in printed.sources for cell in source.select(".tag_solution")]
    assert len(places) == len(code) > 0
    exercises = [n for name, n in printed.places.items() if name.startswith("exercise-")]
    assert min(places) >= max(exercises)  # solutions begin on the last page of the text
    text = printed.text(min(places))
    for cell in code:
        for line in lines_of(cell):
            assert is_in(line, text) or line == "Solution", line


def is_small(printed: Printed) -> None:
    assert len(printed.data) < LARGEST


CHECKS: list[Callable[[Printed], None]] = [
    has_numbered_pages_of_a4,
    is_tagged_and_says_its_language,
    has_an_outline_of_the_headings,
    has_links_that_lead_somewhere,
    says_what_each_picture_shows,
    shows_all_that_was_folded,
    has_its_solutions_at_the_end,
    is_small,
]


@pytest.mark.parametrize("name", NAMES)
def test_a_pdf_holds_its_pages_whole(name: str, browser: Browser, book: Path) -> None:
    printed = print_one(name, browser, book)
    for check in CHECKS:
        check(printed)


FAULTS = {
    '<pre style="width: 50em">wide</pre>': 'cut: PRE  "wide"',
    '<p style="width: 3em; overflow: hidden; white-space: nowrap">long line</p>': "cut: P",
    '<p style="height: 1px; overflow: auto">high line</p>': "cut: P",
    '<img src="none.png" alt="">': "no picture none.png",
    "<script>throw new Error('lost')</script>": "lost",
}


@pytest.mark.parametrize("html", FAULTS)
def test_what_would_be_cut_or_missing_stops_the_print(
    html: str, browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "planted.html"
    file.write_text(f"<!doctype html><title>Planted</title><body>{html}", "utf-8")
    with pytest.raises(RuntimeError, match=f"planted: .*{FAULTS[html]}"), laid_out(browser, file):
        pass
