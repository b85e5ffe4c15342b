"""A Korean chapter as slides and on paper: every word in Korean, by a font that comes along."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pikepdf
import pypdfium2
import pytest
from playwright.sync_api import Browser, Page

from qkv.language import using_language
from tests.browser.conftest import Watch
from tests.browser.test_slides import DECKS, FONTS, LEAST, PROBLEMS, SCREEN, show
from tools.editions import whole_edition
from tools.pdf.__main__ import print_all
from tools.slides.__main__ import build

NAME = "05_masks"
ENGLISH_WORDS = ("Solutions", "Folded code", "Exercises", "Contents")


@pytest.fixture(scope="module")
def decks(book: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all decks in Korean."""
    folder = tmp_path_factory.mktemp("decks") / "slides"
    with using_language("ko"):
        build([], whole_edition(book, "ko"), folder, "")
    return folder


@pytest.fixture
def open_deck(browser: Browser, decks: Path) -> Iterator[Callable[[str], Page]]:
    context = browser.new_context(**SCREEN)
    watch = Watch(decks.as_uri())
    context.on("page", watch.follow)

    def opened(name: str) -> Page:
        page = context.new_page()
        page.goto((decks / f"{name}.html").as_uri())
        page.wait_for_function("() => globalThis.Reveal?.isReady()")
        return page

    yield opened
    context.close()
    watch.check()


@pytest.mark.parametrize("name", DECKS)
def test_every_slide_fits_and_its_hangul_is_the_books(
    open_deck: Callable[[str], Page], name: str
) -> None:
    page, problems = open_deck(name), []
    for n in range(page.evaluate("() => Reveal.getTotalSlides()")):
        show(page, n)
        problems += [f"slide {n + 1}: {one}" for one in page.evaluate(PROBLEMS, LEAST)]
    assert problems == []
    assert "Book Hangul" in page.evaluate(FONTS)
    assert page.locator("html").get_attribute("lang") == "ko"


def test_a_chapter_is_printed_in_korean(browser: Browser, book: Path) -> None:
    with using_language("ko"):
        [(_, _, data)] = print_all(browser, whole_edition(book, "ko"), [NAME])
    with pikepdf.open(io.BytesIO(data)) as pdf:
        assert str(pdf.Root.Lang).startswith("ko")
        assert "저자" in str(pdf.docinfo["/Author"])
        fonts = {
            str(font.BaseFont)
            for sheet in pdf.pages
            for font in sheet.Resources.get("/Font", {}).values()
        }
    assert any("Nanum" in name for name in fonts)
    pages = [sheet.get_textpage().get_text_bounded() for sheet in pypdfium2.PdfDocument(data)]
    text = "\n".join(pages)
    assert "마스크" in text
    assert "풀이" in text
    assert not [word for word in ENGLISH_WORDS if word in text]
