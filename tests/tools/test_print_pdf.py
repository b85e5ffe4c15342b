"""`make pdf` says what is missing, keeps what was there, and joins pages without losing a link."""

import re
from contextlib import nullcontext

import pytest
from bs4 import BeautifulSoup

from tools.browser import INSTALL_HINT
from tools.pdf import __main__ as command
from tools.pdf.document import one_chapter, whole_book
from tools.pdf.front_matter import Imprint
from tools.pdf.pages import Entry, read_page

IMPRINT = Imprint("A Book", "Its authors", "1.2", "CC BY 4.0", "https://book.example/", "en")
ENTRIES = [Entry("chapters/01_one.html", "1 · One", "Part"), Entry("book/two.html", "Two", "")]
SOLVED = """<section id="exercise-1"><h3>Exercise 1</h3>
<div class="cell tag_solution" id="one-2"><details class="qkv-collapsible">
<summary>Solution</summary><pre>answer = 2</pre></details></div></section>"""
PAGES = {
    "chapters/01_one.html": f"""<section id="here"><h1>One<a class="headerlink">#</a></h1>
<a href="../book/two.html#here">there</a> <a href="../book/two.html">Two</a> <a href="#here">up</a>
<a href="https://example.org/">out</a>
<details><summary>Guess</summary><p>Answer</p></details>
<div class="cell" id="one-1"><details class="qkv-collapsible"><summary>Checks</summary>
<pre>assert 1</pre></details></div>{SOLVED}</section>""",
    "book/two.html": '<section id="here"><h1>Two</h1></section>',
}


@pytest.fixture
def pages(tmp_path):
    for name, body in PAGES.items():
        file = tmp_path / name
        file.parent.mkdir()
        html = (
            f'<html><head></head><body><article class="bd-article">{body}</article></body></html>'
        )
        file.write_text(html, "utf-8")
    return lambda: [read_page(tmp_path, entry) for entry in ENTRIES]


def links(html):
    soup = BeautifulSoup(html, "lxml")
    return {a.get_text(" ", strip=True): a["href"] for a in soup.select("article a")}


def test_links_between_pages_lead_into_the_book(pages):
    html = whole_book(pages(), IMPRINT)
    found = links(html)
    assert found["there"] == "#here.two"
    assert found["Two"] == "#two"
    assert found["up"] == "#here.01_one"
    assert found["out"] == "https://example.org/"
    ids = [tag["id"] for tag in BeautifulSoup(html, "lxml").find_all(id=True)]
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in found.values() if link[0] == "#"} <= set(ids)


def test_a_chapter_links_to_other_pages_where_they_are_published(pages):
    chapter, _ = pages()
    chapter.address = "https://book.example/chapters/01_one.html"
    found = links(one_chapter(chapter, None, IMPRINT))
    assert found["there"] == "https://book.example/book/two.html#here"


def test_a_chapter_of_an_unpublished_book_has_their_words(pages):
    html = one_chapter(pages()[0], None, IMPRINT)
    assert "there" not in links(html)
    assert "there" in html


def test_folds_are_open_and_code_stands_at_the_end(pages):
    text = BeautifulSoup(one_chapter(pages()[0], None, IMPRINT), "lxml").body.get_text(" ")
    words = " ".join(text.split())
    assert re.search(
        "Guess Answer Code 1: Checks, page .*Solutions Exercise 1 The question: page answer = 2 "
        "Folded code Code 1: Checks, from page assert 1$",
        words,
    )
    assert "#" not in words


def test_a_chapter_without_solutions_has_no_such_heading(pages):
    chapter, _ = pages()
    chapter.article.select_one(".tag_solution").decompose()
    assert "Solutions" not in one_chapter(chapter, None, IMPRINT)


def test_the_command_takes_chapters_by_either_name():
    entries = [*ENTRIES, Entry("chapters/05_masks.html", "5 · Masks", "Part")]
    assert command.chosen(entries, []) == [command.WHOLE, "01_one", "05_masks"]
    assert command.chosen(entries, ["masks", "01_one", "book"]) == [
        "05_masks",
        "01_one",
        command.WHOLE,
    ]
    with pytest.raises(ValueError, match="no chapter 'mask': name book, or one of one, masks"):
        command.chosen(entries, ["mask"])


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Runs the command where no book is built yet; its status and what it says of errors."""
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "BOOK", tmp_path / "html")
    monkeypatch.setattr(command, "OUT", tmp_path / "pdf")
    monkeypatch.setattr(command, "find_browser", lambda: "chromium")

    def run(*words):
        monkeypatch.setattr("sys.argv", ["pdf", *words])
        return command.main(), capsys.readouterr().err.strip()

    return run


def test_without_a_browser_it_says_how_to_get_one(run, monkeypatch):
    monkeypatch.setattr(command, "find_browser", lambda: None)
    assert run() == (1, INSTALL_HINT)


def test_without_a_book_it_says_how_to_build_one(run):
    assert run() == (1, "The book is not built: run make html first.")


def test_what_fails_leaves_all_pdfs_as_they_were(run, monkeypatch, tmp_path):
    def fail(*_):
        yield "01_one", "", b"new"
        raise RuntimeError('05_masks: cut: PRE "wide"')

    monkeypatch.setattr(command, "contents", lambda _: ENTRIES)
    monkeypatch.setattr(command, "print_all", fail)
    monkeypatch.setattr(command, "chromium", nullcontext)
    old = tmp_path / "pdf" / "01_one.pdf"
    old.parent.mkdir()
    old.write_bytes(b"old")
    assert run() == (1, 'pdf: 05_masks: cut: PRE "wide"')
    assert old.read_bytes() == b"old"
    assert [*old.parent.iterdir()] == [old]
