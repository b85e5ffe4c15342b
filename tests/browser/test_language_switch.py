"""The link to the same page in the other language: it is in reach, and keeps the place."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.helpers.waiting import view

PAGE = "chapters/05_masks.html"
SWITCH = ".qkv-language"
# As a reader who scrolls: what is looked at stands a little below the top of the window.
SCROLL = """(it) => {
  it.scrollIntoView({behavior: "instant"});
  scrollBy({top: -40, behavior: "instant"});
}"""


def follow(page: Page) -> str:
    """Follow the switch by keyboard; the place of the page that it led to."""
    before = page.url
    page.locator(SWITCH).press("Enter")
    page.wait_for_url(lambda url: urlsplit(url).path != urlsplit(before).path)
    return urlsplit(page.url).fragment


def sections(page: Page) -> list[str]:
    ids = page.locator(".bd-article section section").evaluate_all("all => all.map(one => one.id)")
    return [str(one) for one in ids]


def test_from_a_file_and_without_scripts_it_leads_there_and_back(
    browser: Browser, book: Path
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((book / PAGE).as_uri())
    assert follow(page) == ""
    assert page.url == (book / "ko" / PAGE).as_uri()
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    expect(page.get_by_role("link", name="English", exact=True)).to_have_attribute("lang", "en")
    follow(page)
    assert page.url == (book / PAGE).as_uri()
    expect(page.get_by_role("link", name="한국어", exact=True)).to_have_attribute("lang", "ko")
    context.close()


def test_it_keeps_the_place_of_the_address(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/{PAGE}#masks-12")
    expect(page.locator("#masks-12")).to_be_in_viewport()
    assert follow(page) == "masks-12"
    expect(page.locator("#masks-12")).to_be_in_viewport()


def test_it_keeps_the_place_that_is_read(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/{PAGE}")
    here = sections(page)[2]
    page.locator(f'[id="{here}"]').evaluate(SCROLL)
    assert follow(page) == here
    expect(page.locator(f'[id="{here}"] > :is(h2, h3)')).to_be_in_viewport()


def test_a_place_of_the_address_that_is_left_is_not_kept(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/ko/{PAGE}#masks-12")
    expect(page.locator("#masks-12")).to_be_in_viewport()
    here = sections(page)[-4]
    page.locator(f'[id="{here}"]').evaluate(SCROLL)
    assert follow(page) == here


def test_at_the_top_it_leads_to_the_top(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/{PAGE}")
    assert follow(page) == ""


@pytest.mark.parametrize("folder", ["", "ko/"])
def test_it_is_in_reach_on_a_phone(page: Page, book_url: str, folder: str) -> None:
    view(page, {"width": 375, "height": 700}, color_scheme="dark")
    page.goto(f"{book_url}/{folder}{PAGE}")
    switch = page.locator(SWITCH)
    expect(switch).to_be_in_viewport(ratio=1)
    box = switch.bounding_box()
    assert box
    assert box["height"] >= 24
    assert box["width"] >= 24
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    heads = page.locator(".bd-header-article").bounding_box()
    assert heads
    assert heads["height"] < 80, "in one row"
    switch.click()
    page.wait_for_url(re.compile(rf"{re.escape(book_url)}/{'' if folder else 'ko/'}chapters/"))
