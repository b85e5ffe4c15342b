"""Where a reader is: marks at the top, in the contents, in the table and on the map; the dialog."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser import progress
from tests.browser.axe import violations
from tests.browser.conftest import LARGE, Watch
from tests.browser.progress import PAGE, accept, kept, open_dialog, read_to_the_end, says
from tests.helpers.waiting import after_frames, after_timers, view

PHONE = {"width": 375, "height": 700}
SIDEBAR, TABLE = ".bd-sidebar-primary nav a", ".qkv-chapters a"


@pytest.fixture
def masks(page: Page, book_url: str) -> Page:
    page.goto(f"{book_url}/{PAGE}")
    says(page, "0 of 4 done")
    return page


def test_what_was_read_and_done_is_marked_wherever_the_chapter_is_named(
    masks: Page, book_url: str
) -> None:
    read_to_the_end(masks)
    says(masks, "✓ 0 of 4 done")
    accept(masks, "masks-3")
    accept(masks, "masks-5")  # of Going further: kept, not counted
    accept(masks, "attention-1")
    says(masks, "✓ 1 of 4 done")
    masks.reload()
    says(masks, "✓ 1 of 4 done")
    assert kept(masks) == ["attention-1", "masks", "masks-3", "masks-5"]
    mark = masks.locator(".bd-sidebar-primary nav a.current .qkv-progress-mark")
    expect(mark).to_have_text("✓ 1/4")
    expect(mark).to_have_accessible_name("read; 1 of 4 exercises done")

    masks.goto(f"{book_url}/book/index.html")
    says(masks, "1 of 18 read")
    for links in (SIDEBAR, TABLE):
        found = masks.locator(links)
        expect(progress.mark_beside(found, "05_masks")).to_have_text("✓ 1/4")
        expect(progress.mark_beside(found, "03_attention")).to_have_text("1/5")
        expect(found.locator(".qkv-progress-mark")).to_have_count(2)
    expect(masks.locator(".qkv-progress-mark")).to_have_count(4)  # and none in the text

    masks.goto(f"{book_url}/chapters/01_start.html")
    box = masks.locator("a.qkv-box[href$='05_masks.html']")
    sign = box.locator("+ .qkv-progress-mark")
    expect(sign).to_have_text("✓ 1/4")
    expect(box).to_have_accessible_description("read; 1 of 4 exercises done")
    masks.locator(".qkv-choice label", has_text="the whole book").first.click()
    view(masks, PHONE)  # the map is drawn anew
    expect(sign).to_have_text("✓ 1/4")
    expect(masks.locator("svg .qkv-progress-mark")).to_have_count(2)


@pytest.mark.parametrize("state", ["wrong", "open"])
def test_only_an_accepted_answer_counts_and_only_of_an_exercise_that_there_is(
    masks: Page, state: str
) -> None:
    accept(masks, "masks-1", state)
    accept(masks, "masks-99")
    masks.evaluate("document.dispatchEvent(new CustomEvent('exercise-checked'))")
    accept(masks, "masks-2")
    says(masks, "1 of 4 done")
    assert kept(masks) == ["masks-2"]


def test_who_jumps_past_the_end_or_scrolls_by_has_not_read(masks: Page) -> None:
    masks.locator(".bd-sidebar-secondary a[href='#exercises']").click()
    expect(masks.locator("#exercises")).to_be_in_viewport()
    after_timers(masks, progress.STAYS)
    after_frames(masks)
    after_timers(masks, progress.STAYS)
    read_to_the_end(masks)
    after_frames(masks)
    masks.evaluate(progress.TO_THE_TOP)
    after_frames(masks)
    after_timers(masks, progress.STAYS)
    says(masks, "0 of 4 done")
    read_to_the_end(masks)
    says(masks, "✓ 0 of 4 done")


def test_any_mark_can_be_set_and_taken_back_by_keyboard(masks: Page) -> None:
    progress.button(masks).focus()
    masks.keyboard.press("Enter")
    dialog = masks.get_by_role("dialog", name="Your progress")
    expect(dialog.locator("details[open]")).to_have_count(1)
    for name in ("Read", "masks-2"):
        dialog.get_by_role("checkbox", name=name).focus()
        masks.keyboard.press("Space")
    expect(dialog.locator("details[open] summary")).to_have_text("5 · Masks ✓ 1/4")
    dialog.get_by_role("checkbox", name="Read").focus()
    masks.keyboard.press("Space")
    masks.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(progress.button(masks)).to_be_focused()
    says(masks, "1 of 4 done")
    assert kept(masks) == ["masks-2"]


def test_the_dialog_leads_to_every_chapter(masks: Page, book: Path) -> None:
    dialog = open_dialog(masks)
    found = dialog.locator("a").evaluate_all("all => all.map((a) => a.pathname)")
    assert [Path(path).name for path in found] == [
        f"{path.stem}.html" for path in sorted((book / "chapters").glob("*.html"))
    ]
    dialog.locator("summary", has_text="3 · Query").click()
    dialog.locator("details[open] a", has_text="Open this chapter").first.click()
    masks.wait_for_url("**/03_attention.html")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_the_dialog_and_on_the_marks(masks: Page, theme: Any) -> None:
    accept(masks, "masks-1")
    dialog = open_dialog(masks)
    dialog.get_by_role("checkbox", name="Read").check()
    for size in (LARGE["viewport"], PHONE):
        view(masks, size, color_scheme=theme, reduced_motion="reduce")
        found = violations(masks)
        assert not found, "\n".join(found)
        box = dialog.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size["width"]
        assert dialog.evaluate("e => e.scrollWidth <= e.clientWidth")


@pytest.mark.parametrize("page_name", [PAGE, "chapters/01_start.html"])
def test_axe_finds_nothing_on_a_page_with_marks(page: Page, book_url: str, page_name: str) -> None:
    page.goto(f"{book_url}/{PAGE}")
    accept(page, "masks-1")
    says(page, "1 of 4 done")
    page.goto(f"{book_url}/{page_name}")
    expect(page.locator(".qkv-progress-mark").first).to_be_attached()
    view(page, color_scheme="light", reduced_motion="reduce")
    found = violations(page)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("width", [375, 320])
def test_the_top_of_a_phone_has_room_for_it(masks: Page, width: int) -> None:
    read_to_the_end(masks)
    says(masks, "✓ 0 of 4 done")
    view(masks, {"width": width, "height": 700})
    for part in (progress.button(masks), masks.locator("button.secondary-toggle:visible")):
        box = part.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= width


def test_paper_shows_no_marks(masks: Page) -> None:
    accept(masks, "masks-1")
    dialog = open_dialog(masks)
    view(masks, media="print")
    expect(dialog).to_be_hidden()
    expect(progress.button(masks)).to_be_hidden()
    assert masks.locator(".qkv-progress-mark").count()
    assert not masks.locator(".qkv-progress-mark:visible").count()


def test_without_scripts_a_page_says_nothing_of_it(browser: Browser, book_url: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{book_url}/{PAGE}")
    expect(page.locator("h1:visible")).to_have_count(1)
    assert not page.locator(".qkv-where, .qkv-progress-mark, dialog").count()
    context.close()


@pytest.fixture
def from_disk(browser: Browser, book: Path) -> Iterator[BrowserContext]:
    context, watch = browser.new_context(**LARGE), Watch("file://")
    context.on("page", watch.follow)
    yield context
    context.close()
    watch.check()


def test_it_works_from_the_disk(from_disk: BrowserContext, book: Path, tmp_path: Path) -> None:
    page = from_disk.new_page()
    page.goto((book / PAGE).as_uri())
    accept(page, "masks-1")
    says(page, "1 of 4 done")
    page.goto((book / "book" / "index.html").as_uri())
    expect(progress.mark_beside(page.locator(TABLE), "05_masks")).to_have_text("1/4")
    dialog = open_dialog(page)
    assert '"masks-1"' in progress.export(dialog, tmp_path).read_text("utf-8")
