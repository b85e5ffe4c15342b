"""The map of the book: each box leads to its chapter, by pointer and keyboard, on any page."""

import re
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from qkv.explore.start_map import CHAPTERS, WAYS, book_map
from tests.browser.axe import violations
from tests.browser.conftest import LARGE, Watch
from tests.helpers.waiting import view

PAGE = "chapters/01_start.html"
LINKS = "figure[data-panel=map] a.qkv-box"
PHONE = {"width": 375, "height": 700}


def open_map(page, root):
    page.goto(f"{root}/{PAGE}")
    page.locator(LINKS).first.wait_for()
    return page.locator(LINKS)


@pytest.fixture
def links(page, book_url):
    view(page, reduced_motion="reduce")
    return open_map(page, book_url)


def test_every_box_of_a_chapter_leads_to_a_page_and_no_frame_does(links, page, book):
    boxes = book_map(way=next(iter(WAYS)))["map"].boxes.values()
    expected = [f"../chapters/{box.link}.html" for box in boxes if box.link]
    found = [link.get_attribute("href") for link in links.all()]
    assert sorted(found) == sorted(expected)
    assert len(set(found)) == len(CHAPTERS)
    for address in found:
        assert (book / "chapters" / address).resolve().is_file(), address
    others = page.locator("figure[data-panel=map] g.qkv-box")
    assert others.count() == len(boxes) - len(found) - 4  # frames


@pytest.mark.parametrize("edition", ["", "ko/"])
def test_the_name_of_a_chapter_is_underlined_below(page, book_url, edition):
    """Chromium drew the line above a Korean name."""
    view(page, reduced_motion="reduce")
    page.goto(f"{book_url}/{edition}{PAGE}")
    name = page.locator(LINKS).filter(has_text="7 · Add & Norm").first.locator(".qkv-name")
    name.scroll_into_view_if_needed()
    x, y, width, height = (name.bounding_box() or {}).values()
    clip = {"x": x, "y": y - 3, "width": width, "height": height + 6}  # inside its frame
    picture = np.asarray(Image.open(BytesIO(page.screenshot(clip=clip))).convert("L"), dtype=float)
    ink = (picture < picture.max() - 60).mean(axis=1)  # of each row of pixels
    assert ink.max() > 0.9
    assert ink.argmax() > len(ink) / 2


def test_a_click_opens_the_chapter_over_http_and_from_a_file(links, page, browser, book):
    links.filter(has_text="3 · query").click()
    expect(page).to_have_title(re.compile("Query, key, value"))
    watch, context = Watch("file://"), browser.new_context(**LARGE)
    context.on("page", watch.follow)
    from_file = context.new_page()
    open_map(from_file, Path(book).as_uri()).filter(has_text="10 · ").click()
    expect(from_file).to_have_title(re.compile("The whole Transformer"))
    context.close()
    watch.check()


def test_the_keyboard_goes_from_box_to_box_and_enter_opens(links, page):
    links.first.focus()
    readout = page.locator("figure[data-panel=map] .qkv-readout")
    reached = []
    for _ in range(links.count()):
        focused = page.locator(f"{LINKS}:focus")
        assert focused.get_attribute("aria-label") == readout.text_content()
        width = focused.locator("rect").evaluate("e => getComputedStyle(e).strokeWidth")
        assert float(width.removesuffix("px")) >= 3
        reached.append(focused.get_attribute("href"))
        page.keyboard.press("Tab")
    assert reached == [link.get_attribute("href") for link in links.all()]
    assert page.locator(f"{LINKS}:focus").count() == 0
    assert readout.text_content() == ""
    links.filter(has_text="masked").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("05_masks.html"))


def test_names_say_chapter_and_time_and_pictures_hold_links(links, page):
    picture = page.locator("figure[data-panel=map] .qkv-picture")
    assert picture.get_attribute("role") == "group"
    assert picture.get_attribute("tabindex") is None
    name = links.filter(has_text=re.compile(r"^6 · ")).get_attribute("aria-label")
    (chapter,) = (chapter for chapter in CHAPTERS if chapter.number == 6)
    read, exercises, further = chapter.minutes
    times = f"read {read} minutes, exercises {exercises}, going further {further}"
    assert name == f"6 · multi-head self-attention · “{chapter.short_title}”: {times}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_and_the_phone_shows_all_of_it(links, page, theme):
    for size in (LARGE["viewport"], PHONE):
        view(page, size, color_scheme=theme, reduced_motion="reduce")
        body, picture = (
            page.locator(f"figure[data-panel=map] {part}").bounding_box()
            for part in (".qkv-body", ".qkv-picture")
        )
        assert picture["width"] <= body["width"] + 1
    assert not violations(page)


def test_a_box_opens_its_chapter_where_cells_run(reader, live_server):
    page = reader.open(PAGE).page
    page.locator(LINKS).filter(has_text="2 · embedding").first.click()
    expect(page).to_have_title(re.compile("From text to vectors"))
    assert page.url.startswith(live_server.origin)
