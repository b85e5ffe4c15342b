"""*Report a mistake here* opens the form with the section in which one reads, however it is opened.

The built book knows no repository, so a page gets here what page_footer.py would write into it.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.helpers.waiting import view

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "extensions"))
page_footer = importlib.import_module("page_footer")

REPOSITORY = "https://github.com/someone/some-book"
ADDRESS = "https://someone.github.io/some-book/chapters/05_masks.html"
LINK = page_footer.report_address(REPOSITORY, "Masks", ADDRESS, "1.0.0")
SHOW = "(it) => it.scrollIntoView({behavior: 'instant'})"
ADD_LINK = """([place, address]) => {
  for (const old of document.querySelectorAll(".qkv-report")) old.remove();
  const link = document.createElement("a");
  [link.className, link.href, link.textContent] = ["qkv-report", address, "Report a mistake here"];
  link.target = "_blank";
  document.querySelector(place).append(link);
}"""
FOOT, HEAD = ".extra_footer", ".article-header-buttons"


TWO_BUTTONS_MORE = """() => {
  const button = document.querySelector(".article-header-buttons .dropdown");
  button.after(button.cloneNode(true), button.cloneNode(true));
}"""


@pytest.fixture(params=[FOOT, HEAD], ids=["foot", "head"])
def chapter(page: Page, book_url: str, request: pytest.FixtureRequest) -> Page:
    """A chapter with the link at one place, and its script."""
    page.goto(f"{book_url}/chapters/05_masks.html")
    page.evaluate(ADD_LINK, [request.param, LINK])
    page.add_script_tag(path=ROOT / "book" / "assets" / page_footer.SCRIPT)
    # Nothing is asked of another host: what a click would open is looked at and dropped.
    page.evaluate("addEventListener('click', (event) => event.preventDefault())")
    return page


def filled(page: Page) -> dict[str, list[str]]:
    address = page.locator(".qkv-report").get_attribute("href")
    assert address
    assert address.startswith(f"{REPOSITORY}/issues/new?")
    return parse_qs(urlsplit(address).query)


def test_the_section_in_sight_is_filled_in(chapter: Page, request: pytest.FixtureRequest) -> None:
    heading = chapter.locator("#what-to-remember > h2")
    heading.evaluate(SHOW)
    chapter.locator(".qkv-report").dispatch_event("click")
    fields = filled(chapter)
    assert fields["section"] == ["What to remember"]
    assert fields["address"] == [f"{ADDRESS}#what-to-remember"]
    assert fields["chapter"] == ["Masks"]
    assert fields["version"] == ["1.0.0"]
    assert fields["template"] == ["mistake.yml"]


def test_above_the_first_heading_the_chapter_alone_is_filled_in(chapter: Page) -> None:
    chapter.evaluate("document.querySelector('.bd-article h1').style.paddingBottom = '100vh'")
    chapter.locator(".qkv-report").dispatch_event("click")
    fields = filled(chapter)
    assert "section" not in fields
    assert fields["address"] == [ADDRESS]


@pytest.mark.parametrize("button", ["left", "middle", "right"])
def test_every_button_of_the_pointer_finds_it_filled_in(chapter: Page, button: str) -> None:
    """A middle click opens a tab, and a right one the menu that copies the address."""
    chapter.evaluate("addEventListener('auxclick', (event) => event.preventDefault())")
    chapter.locator(".qkv-report").click(button=button)
    assert filled(chapter)["section"]


def test_the_keyboard_opens_it_filled_in(chapter: Page) -> None:
    link = chapter.locator(".qkv-report")
    link.focus()
    expect(link).to_be_focused()
    chapter.keyboard.press("Enter")
    assert filled(chapter)["section"]


def test_later_clicks_start_from_what_the_page_wrote(chapter: Page) -> None:
    for name, title in (("padding", "Padding"), ("what-to-remember", "What to remember")):
        chapter.locator(f"#{name} > h2").evaluate(SHOW)
        chapter.locator(".qkv-report").dispatch_event("click")
        assert filled(chapter)["section"] == [title]
        assert filled(chapter)["address"] == [f"{ADDRESS}#{name}"]


def test_the_buttons_of_a_published_chapter_fit_a_narrow_phone(page: Page, book_url: str) -> None:
    view(page, {"width": 320, "height": 700})
    page.goto(f"{book_url}/book/notation.html")
    page.evaluate(TWO_BUTTONS_MORE)
    assert page.evaluate("document.documentElement.scrollWidth") == 320
