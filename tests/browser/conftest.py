"""A browser that can reach the built book and nothing else, and that remembers what it tried."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, BrowserType, Page, expect, sync_playwright

from qkv.explore.playground import playground
from tests.browser.live import LivePage, Reader, forget_edits, free
from tests.browser.playground_page import START, Box, playgrounds, write_playground
from tests.browser.web_server import QuietHandler
from tests.helpers.live_server import Server, serving
from tests.helpers.waiting import WAIT_MILLISECONDS
from tools.browser import INSTALL_HINT, find_browser

BOOK = Path(__file__).parents[2] / "_build" / "html"
FLAGS = [
    "--no-sandbox",  # Chromium refuses to start as root without it
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Every name but this machine's fails to resolve, so an outside request can never succeed.
    "--host-resolver-rules=MAP * ~NOTFOUND, "
    "EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE *.localhost",
]
LARGE = {"viewport": {"width": 1280, "height": 900}}
SCHEMES_AT_HOME = ("data:", "blob:", "about:", "file:", "chrome:")


class Watch:
    """What went wrong on the pages of one context: outside requests, errors, missing files."""

    def __init__(self, *homes: str) -> None:
        self.homes = [*homes]
        self.outside: list[str] = []
        self.errors: list[str] = []

    def follow(self, page: Page) -> None:
        page.on("request", lambda request: self._note_request(request.url))
        page.on("requestfailed", lambda request: self._note_failure(request.url, request.failure))
        page.on("response", lambda r: self._note_response(r.status, r.url))
        page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))
        page.on("console", lambda message: self._note_console(message.type, message.text))

    def check(self) -> None:
        assert not self.outside, f"asked other hosts: {self.outside}"
        assert not self.errors, "\n".join(self.errors)

    def _note_request(self, url: str) -> None:
        if not url.startswith((*self.homes, *SCHEMES_AT_HOME)):
            self.outside.append(url)

    def _note_failure(self, url: str, reason: str | None) -> None:
        # A page that is left in the middle of its search drops what it was still asking for.
        if reason != "net::ERR_ABORTED":
            self.errors.append(f"failed: {url} ({reason})")

    def _note_response(self, status: int, url: str) -> None:
        if status >= 400:
            self.errors.append(f"{status}: {url}")

    def _note_console(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.errors.append(f"console {kind}: {text}")


def launch(chromium: BrowserType, flags: list[str] = FLAGS) -> Browser:
    """A Chromium in which every wait has the one bound of all tests."""
    browser = chromium.launch(executable_path=find_browser(), args=flags)
    browser.on("context", lambda context: context.set_default_timeout(WAIT_MILLISECONDS))
    expect.set_options(timeout=WAIT_MILLISECONDS)
    return browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if find_browser() is None:
        if os.environ.get("CI"):
            pytest.fail(INSTALL_HINT)
        pytest.skip(INSTALL_HINT)
    with sync_playwright() as playwright:
        browser = launch(playwright.chromium)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def book() -> Path:
    """The folder of the built book; these tests build nothing themselves."""
    if not (BOOK / "book" / "index.html").is_file():
        pytest.fail("The book is not built: run make html first.")
    return BOOK


@pytest.fixture(scope="session")
def book_url(book: Path) -> Iterator[str]:
    """The address of the built book on a server of this test run, without a slash at its end."""
    handler = functools.partial(QuietHandler, directory=str(book))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def context(browser: Browser, book_url: str) -> Iterator[BrowserContext]:
    """A fresh context whose pages are watched; the test fails on what the watch has seen."""
    context = browser.new_context(**LARGE)
    watch = Watch(book_url)
    context.on("page", watch.follow)
    yield context
    context.close()
    watch.check()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture(scope="session")
def playground_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with a playground on it, and all that it loads."""
    folder = tmp_path_factory.mktemp("playground")
    write_playground(folder, playground(title="Any sentence", hint="Type.", start=START))
    return folder


@pytest.fixture
def open_playground(browser: Browser, playground_folder: Path) -> Iterator[Callable[..., Box]]:
    """Opens the playground in a context of its own; nothing may go wrong on it unseen."""
    with playgrounds(browser, playground_folder) as open_page:
        yield open_page


@pytest.fixture(scope="session")
def live_server(book: Path) -> Iterator[Server]:
    """The book with kernels behind it, as `make serve` gives it."""
    with serving(book) as server:
        yield server


@pytest.fixture
def readers(browser: Browser) -> Iterator[Callable[..., Reader]]:
    """Makes readers of a server; the test fails on what went wrong on any of their pages."""
    made: list[Reader] = []

    def make(server: Server, **options: Any) -> Reader:
        watch = Watch(server.origin)
        forget_edits(server)
        made.append(Reader(browser.new_context(**LARGE | options), server, watch))
        return made[-1]

    yield make
    for reader in made:
        reader.context.close()
    for reader in made:
        free(reader.server)
    for reader in made:
        reader.check()


@pytest.fixture
def reader(readers: Callable[..., Reader], live_server: Server) -> Reader:
    return readers(live_server)


@pytest.fixture(scope="module")
def started(browser: Browser, live_server: Server) -> Iterator[tuple[Reader, LivePage]]:
    """A chapter whose button was pressed, once for all tests of a module."""
    watch = Watch(live_server.origin)
    reader = Reader(browser.new_context(**LARGE), live_server, watch)
    yield reader, reader.open().start()
    reader.context.close()
    free(live_server)


@pytest.fixture
def live(started: tuple[Reader, LivePage]) -> Iterator[LivePage]:
    """The started chapter as a reader first meets it: no edits, stored outputs, an idle kernel."""
    reader, page = started
    page.clean(reader)
    yield page
    page.leave_edits()
    reader.check()
