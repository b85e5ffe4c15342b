"""The Korean edition beside the English one: its anchors, links, words and files."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest

from qkv.live.content_security_policy import OWN_SCRIPTS, inline_hashes
from tests.book.test_book import REPOSITORY, ROOT, lay_out
from tools import build_book
from tools.join_editions import join_editions

sys.path.append(str(ROOT / "book" / "extensions"))
other_editions = importlib.import_module("other_editions")

SITE = "https://someone.github.io/some-book/"
PAGES = ("book/index", "book/more", "book/terms", "chapters/01_tiny", "chapters/02_other")
# Two headings of one name, and marks in one: what docutils makes ids of in other ways.
MORE = """# More

## Why not?

[The cell](#tiny-02), the **mask** and [a heading](#a-heading).

## *Why* not `a`?

## Why not?
"""
TERMS = """# Terms

(a-heading)=
## One heading

```{glossary}
mask
  What may not be seen.

causal mask
  The future.
```
"""
KOREAN = {
    "A book": "책",
    "Book": "책",
    "Why not?": "왜 안 될까요?",
    "*Why* not `a`?": "*왜* `a`는 안 될까요?",
    "More": "더 읽기",
    "The Runnable Transformer": "실행해 보는 트랜스포머",
    "The authors of The Runnable Transformer": "지은이들",
    "Code BSD-3-Clause, text and figures CC BY 4.0.": "라이선스",
    "Search the book": "책에서 찾기",
    "Code and output": "코드와 출력",
    "Terms": "용어",
    "One heading": "제목 하나",
    r"mask\n  What may not be seen.": r"마스크\n  보면 안 되는 것입니다.",
    r"causal mask\n  The future.": r"인과 마스크\n  미래입니다.",
}
CATALOGUE = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n'
# In the frame of a Korean page: names, keys, types of files; and the chapter that is English.
ENGLISH_WORDS = {"Colab", "English", "PDF", "ipynb", "md", "pdf", "Ctrl", "JavaScript", "Another"}
# Of the package's catalogue, whose tests see to it that each is translated.
MESSAGES = ("Report a mistake here", "Licences of code by others")


def lay_out_editions(folder: Path) -> Path:
    """A book with a chapter in Korean, one that is not translated, and pages in Korean."""
    lay_out(folder)
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: book/index\nparts:\n- caption: Book\n  chapters:\n"
        + "".join(f"  - file: {page}\n" for page in PAGES[1:])
    )
    (folder / "book" / "more.md").write_text(MORE, encoding="utf-8")
    (folder / "book" / "terms.md").write_text(TERMS, encoding="utf-8")
    (folder / "book" / "library.rst").write_text("Library\n=======\n", encoding="utf-8")
    locale = folder / "book" / "locale" / "ko"
    shutil.copytree(ROOT / "book" / "locale" / "ko" / "LC_MESSAGES", locale / "LC_MESSAGES")
    words = "".join(f'\nmsgid "{one}"\nmsgstr "{other}"\n' for one, other in KOREAN.items())
    for name in ("index", "more", "terms", "01_tiny", "settings"):
        (locale / f"{name}.po").write_text(CATALOGUE + words, encoding="utf-8")
    chapters = folder / "chapters"
    (chapters / "tiny.ipynb").unlink()
    write_chapter(chapters / "01_tiny.ipynb", "Tiny")
    write_chapter(chapters / "ko" / "01_tiny.ipynb", "작은 장")
    write_chapter(chapters / "02_other.ipynb", "Another")
    return folder


def write_chapter(path: Path, title: str, words: str = "") -> None:
    concept = path.stem[3:]
    text = f"# {title}\n\n{words}"
    cells = [
        nbformat.v4.new_markdown_cell(text, id=f"{concept}-01"),
        nbformat.v4.new_code_cell("1 + 1", id=f"{concept}-02", execution_count=1),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path.parent.mkdir(exist_ok=True)
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, path)


def build(folder: Path, *, always: bool = False) -> int:
    html = folder / "_build" / "html"
    return build_book.build(html, html.with_name("part"), always)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = lay_out_editions(tmp_path_factory.mktemp("editions"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_book, "ROOT", folder)
        patch.setenv("QKV_REPOSITORY", REPOSITORY)
        assert build(folder) == 0
        yield folder


@pytest.fixture
def book(folder: Path) -> Path:
    return folder / "_build" / "html"


class Page(HTMLParser):
    """A page's elements with their attributes, and the words outside its text."""

    UNREAD = ("script", "style", "article", "svg")
    SAID = ("title", "aria-label", "alt", "placeholder")

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.frame: list[str] = []
        self.inside: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.elements.append((tag, values))
        if tag in self.UNREAD:
            self.inside.append(tag)
        elif not self.inside:
            self.frame += [values[name] for name in self.SAID if name in values]

    def handle_endtag(self, tag: str) -> None:
        if self.inside and tag == self.inside[-1]:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if self.inside == ["script"] and "document.write" in data:
            self.frame += re.findall(r'(?:title|aria-label)="([^"]*)"|>\s*([^<>`]+)<', data)[0]
        elif not self.inside:
            self.frame.append(data)

    def links(self, **wanted: str) -> list[dict[str, str]]:
        found = (values for tag, values in self.elements if tag in ("a", "link"))
        return [one for one in found if wanted.items() <= one.items()]

    @property
    def ids(self) -> set[str]:
        return {values["id"] for _, values in self.elements if "id" in values}


@pytest.mark.parametrize("page", [*PAGES, "search"])
def test_a_page_has_the_anchors_of_the_english_one(page: str, book: Path) -> None:
    english, korean = Page(book / f"{page}.html"), Page(book / "ko" / f"{page}.html")
    assert english.ids == korean.ids
    assert [v["id"] for t, v in english.elements if t == "section"] == [
        v["id"] for t, v in korean.elements if t == "section"
    ]


def test_anchors_are_made_of_english_titles_and_terms(book: Path) -> None:
    more = (book / "ko" / "book" / "more.html").read_text("utf-8")
    for anchor in ("why-not", "why-not-a"):
        assert f'<section id="{anchor}">' in more
    assert "왜 안 될까요?" in more
    assert 'href="terms.html#term-mask"' not in more, "its term is Korean, and the text is not"
    terms = (book / "ko" / "book" / "terms.html").read_text("utf-8")
    assert re.search(r'<dt id="term-causal-mask">\s*인과', terms)
    index = (book / "ko" / "searchindex.js").read_text("utf-8")
    assert "term-causal-mask" in index
    assert "term-0" not in index


def test_other_headings_than_in_english_stop_the_build(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    html = folder / "_build" / "html"
    before = (html / "index.html").read_bytes()
    write_chapter(folder / "chapters" / "ko" / "01_tiny.ipynb", "작은 장", "## 또 하나")
    try:
        assert build(folder) != 0
    finally:
        write_chapter(folder / "chapters" / "ko" / "01_tiny.ipynb", "작은 장")
    assert "headings must be those of the English page, h1 Tiny, got h1 작은 장" in (
        capfd.readouterr().err
    )
    assert (html / "index.html").read_bytes() == before, "the old book stays"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_leads_to_the_same_page_in_the_other_language(page: str, book: Path) -> None:
    target = f"{page}.html"
    for path, language, here in ((book, "en", ""), (book / "ko", "ko", "ko/")):
        seen = Page(path / target)
        assert ("html", language) in [(tag, one.get("lang")) for tag, one in seen.elements]
        other = {"en": "ko", "ko": "en"}[language]
        [switch] = [
            one for one in seen.links(hreflang=other) if "qkv-language" in one.get("class", "")
        ]
        assert switch["lang"] == other
        place = (path / target).parent / switch["href"]
        assert place.resolve() == (book / ("ko" if other == "ko" else "") / target).resolve()
        alternates = {one["hreflang"]: one["href"] for one in seen.links(rel="alternate")}
        assert alternates == {
            "en": f"{SITE}{target}",
            "ko": f"{SITE}ko/{target}",
            "x-default": f"{SITE}{target}",
        }
        [canonical] = seen.links(rel="canonical")
        assert canonical["href"] == f"{SITE}{here}{target}"
        tags = {one.get("property"): one.get("content") for _, one in seen.elements}
        assert tags["og:locale"] == {"en": "en_US", "ko": "ko_KR"}[language]
        assert tags["og:url"] == canonical["href"]


def test_the_sitemap_names_every_page_of_each_edition(book: Path) -> None:
    found = re.findall("<loc>(.*)</loc>", (book / "sitemap.xml").read_text("utf-8"))
    assert found == [f"{SITE}{at}{page}.html" for at in ("", "ko/") for page in sorted(PAGES)]
    assert not (book / "ko" / "sitemap.xml").exists()


def test_buttons_of_a_translated_chapter_lead_to_its_own_notebook(book: Path) -> None:
    for page, notebook in (("01_tiny", "ko/01_tiny"), ("02_other", "02_other")):
        text = (book / "ko" / "chapters" / f"{page}.html").read_text("utf-8")
        [colab] = re.findall(r'href="https://colab\.[^"]*/chapters/([^"]*)"', text)
        assert colab == f"{notebook}.ipynb"
        offered = (book / "ko" / "_sources" / "chapters" / f"{page}.ipynb").read_text("utf-8")
        assert ("작은 장" in offered) == (page == "01_tiny")
        assert "language=%ED%95%9C%EA%B5%AD%EC%96%B4" in text, "the form for a mistake"


@pytest.mark.parametrize("page", ["book/more", "chapters/01_tiny", "search"])
def test_the_frame_of_a_korean_page_holds_no_english_word(page: str, book: Path) -> None:
    frame = [text.strip() for text in Page(book / "ko" / f"{page}.html").frame]
    said = " ".join(text for text in frame if text not in MESSAGES)
    assert set(re.findall(r"[A-Za-z]{2,}", said)) - ENGLISH_WORDS == set()


def test_what_is_the_same_stands_in_the_book_once(book: Path) -> None:
    english = {path.relative_to(book) for path in (book / "_static").rglob("*.*")}
    own = {path.relative_to(book / "ko") for path in (book / "ko" / "_static").rglob("*.*")}
    assert {path.name for path in own if path.suffix == ".js"} == {
        "documentation_options.js",  # language
        "language_data.js",  # what a search takes off the words of its language
        "messages.js",
        "translations.js",
        "copybutton.js",
    }
    assert not [path for path in own & english if path.suffix in (".woff2", ".svg", ".png")]
    for path in (book / "ko").rglob("*.html"):
        for _, values in Page(path).elements:
            for address in (values.get("src", ""), values.get("href", "")):
                if "/_static/" in address and ":" not in address:
                    assert (path.parent / address.partition("?")[0]).is_file(), (path, address)


def test_the_server_knows_the_scripts_of_both(book: Path) -> None:
    own = json.loads((book / OWN_SCRIPTS).read_text("utf-8"))
    for page in (book / "chapters" / "01_tiny.html", book / "ko" / "chapters" / "01_tiny.html"):
        found = inline_hashes(page.read_text("utf-8"))
        assert set(found.scripts) < set(own["scripts"])


def test_style_sheets_lead_to_what_is_shared(tmp_path: Path) -> None:
    for one, size in (("en", "1px"), ("ko", "2px")):
        static = tmp_path / one / "_static"
        (static / "fonts").mkdir(parents=True)
        (static / "fonts" / "a.woff2").write_text("a font")
        text = f"p {{ margin: {size}; src: url(fonts/a.woff2) url('b.png') url(data:,x) }}"
        (static / "a.css").write_text(text)
        (static / "b.png").write_text(one)
        (tmp_path / one / "_live").mkdir()
        (tmp_path / one / OWN_SCRIPTS).write_text(json.dumps({"scripts": [one], "handlers": []}))
    book = join_editions({one: tmp_path / one for one in ("en", "ko")}, tmp_path / "book")
    sheet = (book / "ko" / "_static" / "a.css").read_text()
    assert "url(../../_static/fonts/a.woff2) url('b.png') url(data:,x)" in sheet
    assert not (book / "ko" / "_static" / "fonts").exists()
    assert json.loads((book / OWN_SCRIPTS).read_text())["scripts"] == ["en", "ko"]


def texts(book: Path) -> dict[str, bytes]:
    return {path.relative_to(book).as_posix(): path.read_bytes() for path in book.rglob("*.html")}


def test_an_edit_of_a_translation_builds_that_page_alone(folder: Path, book: Path) -> None:
    before = texts(book)
    catalogue = folder / "book" / "locale" / "ko" / "more.po"
    with catalogue.open("a", encoding="utf-8") as file:
        file.write('\nmsgid "unused"\nmsgstr "x"\n')
    catalogue.write_text(
        catalogue.read_text("utf-8").replace("왜 안 될까요?", "어째서요?"), "utf-8"
    )
    write_chapter(folder / "chapters" / "ko" / "01_tiny.ipynb", "작은 장", "새 문장입니다.")
    doctrees = folder / "_build" / "sphinx" / "en" / ".doctrees" / "environment.pickle"
    read = doctrees.stat().st_mtime_ns if doctrees.exists() else 0
    assert build(folder) == 0
    after = texts(book)
    changed = {name for name in after if after[name] != before[name]}
    assert changed >= {"ko/book/more.html", "ko/chapters/01_tiny.html"}
    assert all(name.startswith("ko/") for name in changed)
    assert "어째서요?" in after["ko/book/more.html"].decode()
    assert "새 문장" in after["ko/chapters/01_tiny.html"].decode()
    assert not doctrees.exists() or doctrees.stat().st_mtime_ns == read, "Sphinx read no English"
    assert build(folder, always=True) == 0
    assert texts(book) == after


def test_an_edit_of_an_english_page_builds_it_in_each_language(folder: Path, book: Path) -> None:
    page = folder / "book" / "more.md"
    page.write_text(page.read_text("utf-8") + "\nA new sentence.\n", encoding="utf-8")
    assert build(folder) == 0
    for edition in (book, book / "ko"):
        assert "A new sentence." in (edition / "book" / "more.html").read_text("utf-8")


def test_editions_are_the_languages_with_a_folder(tmp_path: Path) -> None:
    assert other_editions.editions_of(tmp_path) == ("en",)
    (tmp_path / "book" / "locale" / "ko").mkdir(parents=True)
    assert other_editions.editions_of(tmp_path) == ("en", "ko")
    assert [other_editions.name_of(one) for one in ("en", "ko")] == ["English", "한국어"]
    assert [other_editions.locale_of(one) for one in ("en", "ko", "ja")] == [
        *("en_US", "ko_KR", "ja_JP")
    ]
