"""A script that slipped into a built page, past every rule of the build: the policy stops it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.live import CHAPTER, Reader
from tests.helpers.live_server import Server, serving
from tests.helpers.waiting import until

PLANTED = """<p>planted</p>
<script>window.planted = "script"</script>
<img src="data:," alt="" onerror="window.planted = 'handler'">
<a id="planted-link" href="javascript:window.planted = 'link'">link</a>
"""


@pytest.fixture(scope="module")
def planted_server(book: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A copy of the book with a chapter whose stored output holds scripts."""
    copy = tmp_path_factory.mktemp("planted") / "html"
    shutil.copytree(book, copy, ignore=shutil.ignore_patterns("model", "_sources"))
    page = (copy / CHAPTER).read_text("utf-8")
    assert page.count("</article>") == 1
    (copy / CHAPTER).write_text(page.replace("</article>", f"{PLANTED}</article>"), "utf-8")
    with serving(copy) as server:
        yield server


def test_a_planted_script_does_not_run_and_the_page_works(
    planted_server: Server, readers: Callable[..., Reader]
) -> None:
    reader = readers(planted_server)
    reader.forgive("violates the following Content Security Policy directive")
    page = reader.open().page
    refused = reader.watch.errors
    until(lambda: len(refused) == 2, f"a script and a handler: {refused}", page=page)
    page.locator("#planted-link").click()
    until(lambda: len(refused) == 3, f"and a link: {refused}", page=page)
    assert page.evaluate("window.planted") is None
    assert page.get_by_text("planted", exact=True).is_visible()
    # The book's own inline scripts and handlers run beside it.
    assert page.locator("html").get_attribute("data-mode") == "auto"
    assert page.locator(".search-button-field").count()
