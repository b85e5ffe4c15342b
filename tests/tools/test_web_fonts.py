"""What is printed, and slides, bring a font where their language needs one; English brings none."""

import re

import pytest
from bs4 import BeautifulSoup

from qkv.fonts import FETCHED, FONTS
from qkv.language import using_language
from tools.editions import built_editions, edition_folder
from tools.pdf.document import one_chapter
from tools.pdf.front_matter import Imprint
from tools.pdf.pages import Page
from tools.slides.__main__ import edition_address
from tools.slides.deck import FONT_FACES, deck_page
from tools.web_fonts import copy_fonts, font_faces


def test_each_rule_leads_to_a_file_that_is_copied_with_the_licence(tmp_path):
    copy_fonts("ko", tmp_path)
    addresses = re.findall(r'url\("(.+?)"\)', font_faces("ko"))
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("fonts/*")}
    assert files == {*addresses, "fonts/LICENSE_FONT"}
    assert "SIL OPEN FONT LICENSE" in (tmp_path / "fonts" / "LICENSE_FONT").read_text("utf-8")


def test_english_brings_none(tmp_path):
    copy_fonts("en", tmp_path)
    assert font_faces("en") == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("chosen", ["en", "ko"])
def test_a_document_and_a_deck_say_their_language_and_take_its_font(chosen):
    article = BeautifulSoup('<article class="bd-article"><h1>값</h1></article>', "lxml").article
    imprint = Imprint("책", "Its authors", "1.2", "CC BY 4.0", "", chosen)
    printed = one_chapter(Page("chapters/01_one.html", "1 · One", "", article), None, imprint)
    with using_language(chosen):
        deck = deck_page(1, "One", [], "")
    for html in (printed, deck):
        assert f'<html lang="{chosen}"' in html
    assert ("@font-face" in printed) == (FONT_FACES in deck) == (chosen == "ko")


@pytest.mark.parametrize(
    ("file", "before"),
    [
        ("book/assets/site.css", "--qkv-serif: "),
        ("book/assets/site.css", "--pst-font-family-base: "),
        ("book/assets/site.css", "--pst-font-family-monospace: "),
        ("book/slides/slides.css", "--qkv-mono: "),
        ("book/slides/slides.css", ".hangul_fallback { font-family: "),
        ("tools/pdf/print.css", "@top-right { font: 8pt "),
        ("tools/pdf/print.css", ".hangul_fallback { font-family: "),
    ],
)
def test_style_sheets_name_the_family_first(file, before):
    family = f'"{FONTS["ko"].css_family}"'
    assert f"font-family: {family}" in font_faces("ko")
    assert f"{before}{family}" in (FETCHED.parent / file).read_text("utf-8")


def test_editions_that_are_built(tmp_path):
    assert built_editions(tmp_path) == ["en"]
    page = tmp_path / "ko" / "book" / "index.html"
    page.parent.mkdir(parents=True)
    page.touch()
    assert built_editions(tmp_path) == ["en", "ko"]
    assert [edition_folder(tmp_path, one) for one in ("en", "ko")] == [tmp_path, tmp_path / "ko"]


@pytest.mark.parametrize(
    ("book", "english", "korean"),
    [
        ("", "", ""),
        ("..", "..", "../../ko"),
        ("https://book.example/", "https://book.example", "https://book.example/ko"),
    ],
)
def test_decks_lead_to_the_book_of_their_language(book, english, korean):
    assert edition_address(book, "en") == english
    assert edition_address(book, "ko") == korean
