"""Find the Chromium that the browser tests use."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

READERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Chromium without its windows comes first: the tests take two thirds of the time in it.
NAMES = ("chromium-headless-shell", *READERS)
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
INSTALL_HINT = (
    "The browser tests and make pdf need Chromium. Install it (Debian, Ubuntu:\n"
    "apt-get install chromium; elsewhere: .venv/bin/python -m playwright install chromium),\n"
    "or say where it is: make test CHROMIUM=/path/to/chromium"
)


def find_browser(names: Sequence[str] = NAMES) -> str | None:
    """The CHROMIUM of the environment, else one on the path, else Playwright's own; or None.

    Args:
        names: what it is called on the path, the best first; READERS are those that people have.
    """
    named = os.environ.get("CHROMIUM")
    if named:
        return shutil.which(named)
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None and sys.platform == "darwin" and MAC.exists():
        path = str(MAC)
    return path or playwright_browser()


def playwright_browser() -> str | None:
    """The browser that `playwright install chromium` brought, if it did."""
    from playwright.sync_api import sync_playwright  # slow to import, and seldom needed

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None
