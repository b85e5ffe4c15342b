"""What who hears the page, sees it in other colours, or moves by keyboard meets on it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.axe import violations
from tests.browser.live import Reader, until
from tests.browser.test_pages import PHONE, built_pages
from tests.live_server import Server

WIDE: ViewportSize = {"width": 1280, "height": 900}
OPEN = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
# Two frames: what watches sizes has answered.
SETTLED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# The theme looks which blocks of code scroll when nothing has changed on the page for 300 ms.
UNREACHED = """[...document.querySelectorAll("article pre")]
  .filter((code) => code.scrollWidth > code.clientWidth && code.tabIndex < 0).length"""


@pytest.fixture
def still(browser: Browser, book_url: str) -> Iterator[Page]:
    """A page without motion, so that a colour read is a colour reached."""
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce", base_url=book_url)
    yield context.new_page()
    context.close()


def everywhere(page: Page, sizes: Sequence[ViewportSize] = (WIDE, PHONE)) -> list[str]:
    """What axe says of one page in both themes, on a laptop and on a phone."""
    found = []
    for size, theme in itertools.product(sizes, ("light", "dark")):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=theme)
        page.evaluate(SETTLED)
        until(lambda: not page.evaluate(UNREACHED), "code that no key scrolls", page=page)
        assert page.locator("html").get_attribute("data-theme") == theme
        found += [f"{size['width']} px, {theme}: {one}" for one in violations(page)]
    return found


@pytest.mark.parametrize("name", built_pages())
def test_axe_finds_nothing_critical_or_serious(still: Page, name: str) -> None:
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
    still.locator("ul.search li a").filter(has_text="Masks").first.click()
    expect(still.locator(".highlighted").first).to_be_attached()
    found += everywhere(still, sizes=[WIDE])
    assert not found, "\n".join(found)


def test_axe_finds_nothing_in_a_live_chapter(
    readers: Callable[..., Reader], live_server: Server
) -> None:
    """Its bar, an editor with an edit, text and an error under it, and an explorer with sliders."""
    live = readers(live_server, reduced_motion="reduce").open().start()
    explorer = live.page.locator("[data-qkv-cell]:has(.qkv-explore)").first
    n = int(explorer.get_attribute("data-qkv-cell") or "")
    live.run_before(n)
    live.run(n)
    expect(live.output(n).locator(".noUi-handle").first).to_be_visible()
    first, second = live.plain()[:2]
    live.run(first, "print('edited')")
    live.run(second, "1 / 0", state="error")
    found = everywhere(live.page)
    assert not found, "\n".join(found)
