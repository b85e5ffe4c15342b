"""A build after edits writes, to the last byte, what a build of all pages writes."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from tests.book.test_book import REPOSITORY, ROOT, lay_out
from tools import build_book

# A heading, a glossary term, and a cell: what links of another page lead to.
LINKING = "# More\n\n[The cell](#tiny-02), the **mask**, [a heading](#a-heading) and $d_k$.\n"
TERMS = (
    "# Terms\n\n(a-heading)=\n## One heading\n\n```{glossary}\nmask\n  What may not be seen.\n```\n"
)
CARD = "_cards/chapters/tiny.png"
PAGES = ("book/index", "book/more", "book/terms", "chapters/tiny")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A built book of four pages that show things of each other."""
    folder = lay_out(tmp_path_factory.mktemp("book"))
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: book/index\nchapters:\n"
        + "".join(f"- file: {page}\n" for page in PAGES[1:])
    )
    write(folder / "book" / "more.md", LINKING)
    write(folder / "book" / "terms.md", TERMS)
    write_chapter(folder, "Words of the chapter, some of them rare.", ROOT / "book" / "readme.png")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_book, "ROOT", folder)
        patch.setenv("QKV_REPOSITORY", REPOSITORY)  # so that there are cards and a sitemap too
        assert "Building the book" in build(folder)
        yield folder


def build(folder: Path, *, always: bool = False) -> str:
    """Build what has changed; returns what the tool said."""
    html = folder / "_build" / "html"
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.print", lambda text, **_: said.append(text))
        assert build_book.build(html, html.with_name("part"), always) == 0
    return "".join(said)


def files(folder: Path) -> dict[str, bytes]:
    html = folder / "_build" / "html"
    return {
        path.relative_to(html).as_posix(): path.read_bytes()
        for path in sorted(html.rglob("*"))
        if path.is_file() and ".doctrees" not in path.parts and path.name != ".buildinfo"
    }


def write(path: Path, text: str) -> None:
    """Write a page as one that was put back from elsewhere: its date is an old one."""
    path.write_text(text, encoding="utf-8")
    os.utime(path, (1_000_000_000, 1_000_000_000))


def write_chapter(folder: Path, words: str, figure: Path | None = None) -> None:
    path = folder / "chapters" / "tiny.ipynb"
    notebook = nbformat.read(path, as_version=4)
    outputs = []
    if figure:
        data = {"image/png": b64encode(figure.read_bytes()).decode()}
        outputs = [nbformat.v4.new_output("display_data", data)]
    cell = nbformat.v4.new_code_cell("draw()", id="tiny-02", execution_count=1, outputs=outputs)
    cell.metadata = {"mystnb": {"image": {"alt": "A figure."}}}
    notebook.cells[1].source = f"# Tiny\n\n{words}"
    notebook.cells[2:] = [cell]
    write(path, nbformat.writes(notebook))


def test_edits_give_what_a_build_of_all_pages_gives(book: Path) -> None:
    before = files(book)
    assert any(name.startswith("_images/") for name in before)
    assert CARD in before
    assert "sitemap.xml" in before
    write_chapter(book, "Other words of the chapter.")
    assert "the pages that have changed" in build(book)
    after = files(book)
    assert b"Other words" in after["chapters/tiny.html"]
    assert not any(name.startswith("_images/") for name in after), "no page has the figure now"
    assert CARD not in after
    assert b"term-mask" in after["searchindex.js"], "an entry of a page that was not written"
    kept = {f"{page}.html" for page in PAGES} - {"chapters/tiny.html"}
    assert all(after[name] == before[name] for name in kept)

    write(book / "book" / "terms.md", TERMS.replace("One heading", "Another heading"))
    write(book / "book" / "more.md", LINKING.replace("# More", "# Much more"))
    assert "the pages that have changed" in build(book)
    after = files(book)
    assert all(b"Much more" in after[f"{page}.html"] for page in PAGES), "in each sidebar"
    build(book, always=True)
    assert files(book) == after


def test_a_link_that_an_edit_breaks_stops_the_build(
    book: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The link is on a page that nobody edited."""
    write(book / "book" / "terms.md", TERMS.replace("(a-heading)=\n", ""))
    html = book / "_build" / "html"
    assert build_book.build(html, html.with_name("part"), always=False) != 0
    assert "a-heading" in capfd.readouterr().err
