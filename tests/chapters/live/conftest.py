"""The browser and the server of the other browser tests."""

from tests.browser.conftest import book, browser, live_server, reader, readers  # noqa: F401
