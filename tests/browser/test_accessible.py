"""What who hears the page, sees it in other colours, or moves by keyboard meets on it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, expect

from qkv.explore import Bars, Heatmap
from qkv.notebooks.widget_state import VIEW_MIME
from tests.browser.axe import keep_one_of_each, violations
from tests.browser.live import Reader
from tests.browser.test_pages import PHONE, built_pages
from tests.helpers.explorers import CHAPTERS, explorers_in_chapter, function_of
from tests.helpers.live_server import Server
from tests.helpers.waiting import after_frames, after_timers, view

WIDE: ViewportSize = {"width": 1280, "height": 900}
OPEN = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
COLOURS = ("cat.color",)  # axe's tag of the rules that look at them
LOOKS_AGAIN = 300  # ms after the last change, the theme looks which blocks of code scroll

SLIDERS = """
from qkv.explore import explore
from qkv.explore.attention import TOKENS, follow_query
explore(follow_query, title="One query", hint="Move a slider.", start={"sharpness": 1.0},
        query=TOKENS, sharpness=[0.0, 1.0, 4.0], nearness=[0.0, 1.0])
"""


@pytest.fixture
def still(browser: Browser, book_url: str) -> Iterator[Page]:
    """A page without motion, so that a colour read is a colour reached."""
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce", base_url=book_url)
    yield context.new_page()
    context.close()


def everywhere(page: Page, sizes: Sequence[ViewportSize] = (WIDE, PHONE)) -> list[str]:
    """What axe says of one page on a laptop and on a phone; of its colours, once in each theme."""
    found = []
    keep_one_of_each(page)  # before axe is asked: the theme answers a change, and is waited for
    after_timers(page, LOOKS_AGAIN)
    for place, size in enumerate(sizes):
        show(page, size, "light")
        found += [f"{size}, light: {one}" for one in violations(page, without=COLOURS[:place])]
    show(page, sizes[-1], "dark")
    return found + [f"{sizes[-1]}, dark: {one}" for one in violations(page, COLOURS)]


def show(page: Page, size: ViewportSize, theme: Literal["light", "dark"]) -> None:
    view(page, size, color_scheme=theme)
    expect(page.locator("html")).to_have_attribute("data-theme", theme)


@pytest.mark.parametrize("name", built_pages())
def test_axe_finds_nothing_on_a_page(still: Page, name: str) -> None:
    """With every fold open, and every explorer drawn."""
    still.goto(name)
    still.evaluate(OPEN)
    explorers = still.locator(".qkv-explorer")
    drawn = still.locator(".qkv-explorer:has([data-panel])")
    expect(drawn).to_have_count(explorers.count())
    found = everywhere(still)
    assert not found, "\n".join(found)


def test_axe_finds_nothing_on_the_results_of_a_search_and_its_marks(still: Page) -> None:
    still.goto("search.html?q=softmax")
    expect(still.locator("ul.search li p.context").first).to_be_visible()
    expect(still.locator(".search-summary")).to_contain_text("finished")
    found = everywhere(still)
    still.locator("ul.search li a[href*='05_masks']").first.click()
    still.wait_for_url(re.compile(r"/05_masks\.html"))
    expect(still.locator(".highlighted").first).to_be_attached()
    found += everywhere(still, sizes=[WIDE])
    assert not found, "\n".join(found)


def test_axe_finds_nothing_in_a_live_chapter(
    readers: Callable[..., Reader], live_server: Server
) -> None:
    """Its bar, an editor with an edit, text and an error under it, and an explorer's controls."""
    live = readers(live_server, reduced_motion="reduce").open().start()
    first, second, third = live.plain()[:3]
    explorer = live.run(first, SLIDERS)
    expect(explorer.locator(".noUi-handle").first).to_be_visible()
    expect(explorer.get_by_role("radio").first).to_be_visible()
    expect(explorer.locator("[data-panel]").first).to_be_visible()
    live.run(second, "print('edited')")
    live.run(third, "1 / 0", state="error")
    found = everywhere(live.page)
    assert not found, "\n".join(found)


DRAWERS = ".bd-sidebar-primary, .bd-sidebar-secondary"


@pytest.mark.parametrize("width", [375, 1000])
def test_the_keyboard_does_not_enter_a_closed_drawer(still: Page, width: int) -> None:
    view(still, {"width": width, "height": 800})
    still.goto("chapters/05_masks.html")
    stops = still.locator(DRAWERS).locator("a, button, input, [tabindex='0']")
    reached = """(all) => all.filter((e) => e.checkVisibility({ visibilityProperty: true })
      && (e.getBoundingClientRect().right <= 0 || e.getBoundingClientRect().left >= innerWidth))
      .map((e) => e.textContent.trim())"""
    assert stops.count() > 20
    assert stops.evaluate_all(reached) == []
    still.locator("button.secondary-toggle:visible").click()
    expect(still.locator(".bd-sidebar-secondary a").first).to_be_in_viewport()


@pytest.mark.parametrize("name", ["search.html", "chapters/05_masks.html"])
def test_the_skip_link_leads_past_the_toolbar(still: Page, name: str) -> None:
    still.goto(name)
    still.locator("#pst-skip-link a").focus()
    still.keyboard.press("Enter")
    after_frames(still)
    still.keyboard.press("Tab")
    focused = still.locator("*:focus")
    assert focused.evaluate("e => !!e.closest('#qkv-text')")


def colours_of(picture: bytes) -> list[tuple[int, tuple[int, ...]]]:
    """(pixels, colour) of a screenshot's colours that are more than soft edges."""
    image = Image.open(BytesIO(picture)).convert("RGB")
    found = image.getcolors(image.width * image.height) or []
    return [(count, colour) for count, colour in found if count > 50]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_forced_colours_leave_sliders_and_icons_to_be_seen(still: Page, theme: Any) -> None:
    view(still, forced_colors="active", color_scheme=theme)
    still.goto("book/index.html")
    still.locator(".qkv-explorer [data-panel]").first.wait_for()
    slider = still.locator(".qkv-slider input[type=range]").first
    # The card, the track before the thumb, and the track behind it.
    assert len(colours_of(slider.screenshot())) >= 3
    button = "label:{}(:has(:checked))"
    pressed, loose = (
        still.locator(f".qkv-choice {button.format(kind)}").first for kind in ("is", "not")
    )
    ground = "e => getComputedStyle(e).backgroundColor"
    assert pressed.evaluate(ground) != loose.evaluate(ground)
    for icon in still.locator(".article-header-buttons .fa-solid:visible").all():
        assert len(colours_of(icon.screenshot(animations="disabled"))) >= 2


def test_on_paper_the_dark_theme_is_light(still: Page) -> None:
    view(still, color_scheme="dark")
    still.goto("chapters/05_masks.html")
    root = still.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    view(still, media="print", color_scheme="dark")
    expect(root).to_have_attribute("data-theme", "light")
    paper, ink = still.locator("article p").first.evaluate(
        "(e) => [getComputedStyle(document.body).backgroundColor, getComputedStyle(e).color]"
    )
    assert paper == "rgb(255, 255, 255)"
    assert max(map(int, re.findall(r"\d+", ink))) < 80
    view(still, media="screen", color_scheme="dark")
    expect(root).to_have_attribute("data-theme", "dark")
    still.evaluate(
        """() => addEventListener("beforeprint", () => {
          window.printed = document.documentElement.dataset.theme; })"""
    )
    still.pdf()
    assert still.evaluate("window.printed") == "light"
    expect(root).to_have_attribute("data-theme", "dark")


def test_without_scripts_an_explorer_says_how_it_opens(
    browser: Browser, book: Path, book_url: str
) -> None:
    context = browser.new_context(base_url=book_url, java_script_enabled=False)
    page = context.new_page()
    states = [state for notebook in CHAPTERS for state in explorers_in_chapter(notebook)]
    seen = 0
    for name in built_pages():
        if VIEW_MIME not in (book / name).read_text(encoding="utf-8"):
            continue
        page.goto(name)
        tables = page.locator(".qkv-noscript")
        assert tables.count() == page.content().count(f'type="{VIEW_MIME}"')
        texts = {text.split(".")[0].strip(): text for text in tables.all_text_contents()}
        for state in states:
            if (text := texts.get(state["title"])) is not None:
                seen += 1
                says_the_opening(text, state)
    context.close()
    assert seen >= len(CHAPTERS)


def says_the_opening(text: str, state: dict[str, Any]) -> None:
    """Each axis with its value, each text, and each number of bars and heat maps."""
    values = {a["name"]: a["values"][int(state[f"i_{a['name']}"])] for a in state["axes"]}
    for axis in state["axes"]:
        shown = axis["texts"][axis["values"].index(values[axis["name"]])]
        assert f"{axis['label']} {shown}" in text
    for panel in function_of(state["source"])(**values).values():
        if isinstance(panel, str):
            assert panel in text
        elif isinstance(panel, Bars):
            for label, value in zip(panel.labels, panel.values, strict=True):
                number = f"{np.float16(value):.2f}".replace("-", "−")
                assert f"{label}{number}" in text
        elif isinstance(panel, Heatmap) and panel.colours != "mask":
            heads = panel.values.reshape(-1, *panel.values.shape[-2:])  # (H, n, m)
            for label, row in itertools.chain(
                *(zip(panel.rows, head, strict=True) for head in heads)
            ):
                written = "".join(f"{np.float16(value):.2f}" for value in row)
                assert f"{label}{written}".replace("-", "−") in text
