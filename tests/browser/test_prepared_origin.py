"""Another user of this machine prepares the reader's browser while the book is not served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.browser.hostile import Hostile, hostile_server
from tests.browser.live import CHAPTER, LivePage
from tests.helpers.live_server import HOST, free_port, serving
from tests.helpers.waiting import until

PREPARE = b"""<!DOCTYPE html><link rel=icon href=data:,><title>Old</title><script>
navigator.serviceWorker.register("/worker.js", { scope: "/" })
  .then(() => navigator.serviceWorker.ready).then(() => { document.title = "Prepared"; });
</script>"""
# Tells its master of every request, and answers it with a page of its own.
WORKER = """
self.onactivate = (event) => event.waitUntil(clients.claim());
self.onfetch = (event) => {
  const told = fetch("%s?" + encodeURIComponent(event.request.url), { mode: "no-cors" });
  const page = new Response("<title>Taken</title>", { headers: { "Content-Type": "text/html" } });
  event.respondWith(told.then(() => page, () => page));
};
"""


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """Not watched: here other servers are asked, and one of them is gone."""
    context = browser.new_context()
    yield context
    context.close()


def seen_by_worker(master: Hostile) -> list[str]:
    return [asked.path for asked in master.asked]


def test_a_service_worker_left_on_the_book_s_port_sees_nothing_of_the_next_run(
    context: BrowserContext, book: Path, tmp_path: Path
) -> None:
    """The worst case: he has the port, the reader's old tab, and every address that can be known.

    The page that was open keeps its changes, which the next run shows again.
    """
    port = str(free_port())
    with serving(book, "--port", port, data=tmp_path) as earlier:
        live = LivePage(context.new_page())
        live.page.goto(earlier.link(CHAPTER))
        first = live.start().plain()[0]
        assert live.prints(first, "print('mine')") == "mine"
        expect(live.message).to_contain_text("Ran")  # by then the change is kept
        live.page.close(run_before_unload=True)
    known = {earlier.origin, f"http://{HOST}:{port}", f"http://localhost:{port}"}
    with hostile_server() as master:
        worker = (WORKER % master.url("/seen")).encode()
        with hostile_server(port=int(port), page=PREPARE, worker=worker):
            prepare(context, known)
        with serving(book, "--port", port, data=tmp_path) as later:
            assert not seen_by_worker(master)
            page = context.new_page()
            page.goto(later.link(CHAPTER))
            assert not seen_by_worker(master), "the worker is sent the link"
            expect(page.locator(".qkv-live-bar")).to_be_visible()
            assert page.evaluate("navigator.serviceWorker.controller") is None
            again = LivePage(page).start()
            assert again.text(first) == "print('mine')"
            assert again.prints(first, "print(6 * 7)") == "42"
            assert not seen_by_worker(master), "the worker sees the next run"

            # What was prepared works, where the book no longer is.
            page.goto(f"{earlier.origin}/")
            expect(page).to_have_title("Taken")
            until(lambda: seen_by_worker(master), "the worker sees nothing at all", page=page)
            page.close()


def prepare(context: BrowserContext, origins: set[str]) -> None:
    for origin in origins:
        page = context.new_page()
        page.goto(f"{origin}/")
        expect(page).to_have_title("Prepared")
        page.close()
