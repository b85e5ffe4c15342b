"""Print a document with Chromium: explorers drawn, wide things narrowed, pages numbered."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pikepdf import Name, ObjectStreamMode, Pdf
from playwright.sync_api import Browser, Page, sync_playwright

from qkv.language import gettext
from tools.browser import find_browser

SCRIPT = Path(__file__).with_name("print.js")
# As wide as print.css leaves between the margins of A4, so that scripts draw what is printed.
WIDTH = 643  # 170 mm at 96 a inch
FLAGS = [
    "--no-sandbox",  # Chromium refuses to start as root without it
    "--disable-gpu",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # the book is in its folder, whole
]
PATIENCE = 600_000  # ms for a whole book on a slow machine
PASSES = 4


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def laid_out(browser: Browser, document: Path) -> Iterator[Page]:
    """The document as it is printed: on a page of the paper's width, its explorers drawn.

    Raises:
        RuntimeError: a script or a file of it failed.
    """
    context = browser.new_context(
        viewport={"width": WIDTH, "height": 900}, reduced_motion="reduce", color_scheme="light"
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("requestfailed", lambda request: faults.append(f"no {request.url}"))
    page.emulate_media(media="print")
    page.goto(document.as_uri())
    words = [gettext("switched on"), gettext("switched off")]
    faults += page.evaluate(SCRIPT.read_text("utf-8"), words)
    if faults:
        raise RuntimeError(f"{document.stem}: " + "; ".join(faults))
    yield page
    context.close()


def print_pdf(page: Page) -> bytes:
    """The PDF of a page that is laid out; its references carry the numbers of today's pages."""
    known: dict[str, int] = {}
    for _ in range(PASSES):
        data = page.pdf(prefer_css_page_size=True, print_background=True, tagged=True, outline=True)
        with Pdf.open(io.BytesIO(data)) as pdf:
            numbers = page_numbers(pdf)
            if numbers == known:
                author = page.get_attribute('meta[name="author"]', "content")
                return compressed(pdf, author or "")
        known = numbers
        page.evaluate(
            """(numbers) => document.querySelectorAll("[data-target]").forEach((one) => {
              one.textContent = numbers[one.dataset.target];
            })""",
            known,
        )
    raise RuntimeError("the numbers of pages moved what they number")


def page_numbers(pdf: Pdf) -> dict[str, int]:
    """The page, from 1, of each place that a link leads to."""
    places = {page.obj.objgen: i for i, page in enumerate(pdf.pages, start=1)}
    return {name.lstrip("/"): places[to[0].objgen] for name, to in pdf.Root.Dests.items()}


def compressed(pdf: Pdf, author: str) -> bytes:
    """The same in a third of the bytes, the tags being most of them, and without the hour: two
    prints of one book are one file."""
    pdf.docinfo[Name.Author] = author
    for date in (Name.CreationDate, Name.ModDate):
        del pdf.docinfo[date]
    file = io.BytesIO()
    pdf.save(file, object_stream_mode=ObjectStreamMode.generate, deterministic_id=True)
    return file.getvalue()
