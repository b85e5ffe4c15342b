"""A reader's progress on a page, for tests: the button, its dialog, files that go out and in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

KEY = "qkv-progress"
PAGE = "chapters/05_masks.html"
BOOK = "The Runnable Transformer"
STAYS = 2000  # ms for which the end of a chapter has to be in sight
TO_THE_END = "e => e.scrollIntoView({ block: 'center', behavior: 'instant' })"
TO_THE_TOP = "scrollTo({ top: 0, behavior: 'instant' })"


def button(page: Page) -> Locator:
    return page.locator(".qkv-where")


def says(page: Page, text: str) -> None:
    """Until the button at the top of the page says so."""
    expect(page.locator(".qkv-where-long")).to_have_text(text)


def accept(page: Page, name: str, state: str = "right") -> None:
    """As what judges an answer does."""
    page.evaluate(
        """(detail) => document.dispatchEvent(new CustomEvent("exercise-checked", { detail }))""",
        {"name": name, "state": state},
    )


def read_to_the_end(page: Page) -> None:
    page.locator("#exercises > h2").evaluate(TO_THE_END)


def kept(page: Page) -> list[str]:
    """The marks in the browser's storage."""
    text = page.evaluate("(key) => localStorage.getItem(key)", KEY)
    return list(json.loads(text)["marks"]) if text else []


def mark_beside(links: Locator, page: str) -> Locator:
    return links.and_(links.page.locator(f"[href$='{page}.html']")).locator(".qkv-progress-mark")


def open_dialog(page: Page) -> Locator:
    button(page).click()
    dialog = page.get_by_role("dialog", name="Your progress")
    expect(dialog).to_be_visible()
    return dialog


def press(dialog: Locator, name: str) -> None:
    dialog.get_by_role("button", name=name).click()


def said(dialog: Locator) -> Locator:
    return dialog.locator(".qkv-said")


def export(dialog: Locator, folder: Path) -> Path:
    """The file that Export gives."""
    with dialog.page.expect_download() as download:
        press(dialog, "Export")
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def choose(dialog: Locator, file: Path) -> None:
    with dialog.page.expect_file_chooser() as chooser:
        press(dialog, "Import")
    chooser.value.set_files(file)


def forget(dialog: Locator) -> None:
    dialog.page.once("dialog", lambda question: question.accept())
    press(dialog, "Forget all")


def written(marks: object, **changed: Any) -> str:
    """What Export writes, or something near it."""
    return json.dumps({"book": BOOK, "version": 1, "marks": marks} | changed)
