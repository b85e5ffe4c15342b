"""The boxes of the built chapters: they answer as the NumPy room, over http and from a file."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from qkv.pretrained import pretrained
from qkv.translator.ablation import without_positions
from tests.browser.conftest import Watch

CHAPTERS = ["01_start", "12_decoding", "13_results"]
STILL = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
PHONE = STILL | {"viewport": {"width": 375, "height": 800}}


@pytest.fixture(scope="module", params=["file", "http"])
def home(request, book: Path, book_url: str) -> str:
    """The address of the book without a slash at its end."""
    return book.as_uri() if request.param == "file" else book_url


@pytest.fixture
def chapter(browser: Browser, home: str) -> Callable[..., Page]:
    """Opens a chapter; nothing may go wrong on its page, and nothing be asked of another host."""

    @contextmanager
    def open_chapter(name: str, **options):
        context, watch = browser.new_context(**options), Watch(home)
        context.on("page", watch.follow)
        page = context.new_page()
        page.goto(f"{home}/chapters/{name}.html")
        yield page
        context.close()
        watch.check()

    return open_chapter


def box_of(page: Page) -> Locator:
    box = page.locator(".qkv-explore", has=page.locator(".qkv-playground"))
    expect(box).to_have_count(1)
    return box


def says(box: Locator, translation: str) -> None:
    expect(box.locator(".qkv-announcement")).to_have_text(f"Translation: {translation}")


def loaded(page: Page) -> list[str]:
    """The large scripts of the model that the page has asked for."""
    names = page.evaluate("[...document.scripts].map(({ src }) => src)")
    large = ("engine.js", "parameters.js")
    return [name for name in large if any(f"/model/{name}" in one for one in names)]


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_reader_s_sentence_is_answered_in_the_page(chapter, name: str) -> None:
    with chapter(name, **STILL) as page:
        box = box_of(page)
        box.scroll_into_view_if_needed()
        start = box.get_by_role("combobox").input_value()
        assert loaded(page) == []
        box.get_by_role("button", name="Translate").click()
        says(box, pretrained().translate(start))
        assert loaded(page) == ["engine.js", "parameters.js"]
        page.context.set_offline(True)  # all that it needs is here by now
        box.get_by_role("combobox").fill("she did not drink the cold water.")
        page.keyboard.press("Enter")
        says(box, pretrained().translate("She did not drink the cold water"))
        said = "One of the 34,367 sentences that the book has for this model."
        expect(box.get_by_role("status").first).to_have_text(said)
        box.get_by_role("combobox").fill("The carrot ate the rabbit because it was hungry")
        page.keyboard.press("Enter")
        said = "None of the 34,367 sentences that the book has for this model"
        expect(box).to_contain_text(said)
        for view in ("attention", "search", "heads"):
            box.get_by_role("radio", name=view, exact=True).check(force=True)
            expect(box.locator(".qkv-panel").first).to_be_visible()


@pytest.mark.parametrize("off", [["encoder"], ["decoder"], ["encoder", "decoder"]])
def test_heads_and_positions_can_be_switched_off(chapter, off) -> None:
    sentence = "The teacher will meet the doctor"
    with without_positions(pretrained().model, off):
        changed = pretrained().translate(sentence)
    assert (changed != pretrained().translate(sentence)) == ("encoder" in off)
    with chapter("13_results", **STILL) as page:
        box = box_of(page)
        box.get_by_role("button", name="Translate").click()
        for part in off:
            box.get_by_role("checkbox", name=part).uncheck()
        what = "; ".join(f"positions of the {part}" for part in off)
        expect(box.locator(".qkv-off")).to_contain_text(f"Switched off: {what}.")
        says(box, changed)
        box.get_by_role("button", name="Switch all on").click()
        says(box, pretrained().translate(sentence))


@pytest.mark.parametrize("name", CHAPTERS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_a_phone(chapter, name: str, theme: str) -> None:
    with chapter(name, **PHONE, color_scheme=theme) as page:
        box = box_of(page)
        box.get_by_role("button", name="Translate").click()
        expect(box.locator(".qkv-announcement")).to_contain_text("Translation: ")
        for view in ("attention", "search", "heads"):
            box.get_by_role("radio", name=view, exact=True).check(force=True)
            assert page.evaluate("document.documentElement.scrollWidth") <= 375, view
