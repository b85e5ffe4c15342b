"""How long a test waits at most, whatever it waits for, and how it asks for it again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

WAIT_SECONDS = 120  # no promise to a reader: what ends a test that would wait for ever
WAIT_MILLISECONDS = 1000 * WAIT_SECONDS
PAUSE = 0.05  # seconds from one question to the next

Found = TypeVar("Found")


def until(
    true: Callable[[], Found], words: str | Callable[[], str], page: Page | None = None
) -> Found:
    """Ask again until something is true, and return it.

    Where Playwright can wait, let it: `expect(…)`, `locator.wait_for()`. This is for what Python
    alone can ask, and for pages whose policy forbids `wait_for_function`.

    Args:
        words: what a test fails with when the bound is reached.
        page: of the browser, so that its events are heard between the questions.
    """
    end = time.monotonic() + WAIT_SECONDS
    while not (found := true()):
        if time.monotonic() > end:
            raise AssertionError(words if isinstance(words, str) else words())
        page.wait_for_timeout(1000 * PAUSE) if page else time.sleep(PAUSE)
    return found


def after_timers(page: Page, milliseconds: int) -> None:
    """Until a page's timers of at most so many milliseconds have run, of those that are set by now.

    A timer that is set later, and is no shorter, runs later, however busy the machine is.
    """
    page.evaluate("(delay) => new Promise((run) => setTimeout(run, delay))", milliseconds)


def after_frames(page: Page) -> None:
    """Until a page has drawn two frames: what watches sizes has answered by then."""
    page.evaluate(
        """(bound) => new Promise((drawn, late) => {
          setTimeout(() => late(new Error(`no two frames in ${bound} ms`)), bound);
          requestAnimationFrame(() => requestAnimationFrame(drawn));
        })""",
        WAIT_MILLISECONDS,
    )


def view(page: Page, size: ViewportSize | None = None, **media: Any) -> None:
    """Show a page in a window of another size, on other media, in another theme.

    Pictures are drawn anew, and the theme is another, a frame later: so this waits for two.

    Args:
        size: width and height of the window in px; None keeps it.
        media: what `Page.emulate_media` takes, such as `color_scheme`.
    """
    if size:
        page.set_viewport_size(size)
    if media:
        page.emulate_media(**media)
    after_frames(page)
