"""How long a test waits at most, whatever it waits for, and how it asks for it again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from playwright.sync_api import Page

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
