"""Where a reader's marks are kept: a browser's storage that may fail, a file, the book's server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser import progress
from tests.browser.live import Reader
from tests.browser.progress import (
    KEY,
    PAGE,
    accept,
    choose,
    export,
    forget,
    kept,
    open_dialog,
    press,
    said,
    says,
    written,
)
from tests.helpers.live_server import Server, serving
from tests.helpers.waiting import until

UNKEPT = "The marks could not be kept, and last until you leave this page; Export saves them."
FULL = """const keep = Storage.prototype.setItem;
Storage.prototype.setItem = function (key, value) {
  if (key === "qkv-progress") throw new DOMException("The quota is used up.", "QuotaExceededError");
  keep.call(this, key, value);
};"""
OFF = """for (const name of ["getItem", "setItem", "removeItem"]) {
  const act = Storage.prototype[name];
  Storage.prototype[name] = function (key, ...more) {
    if (key === "qkv-progress") throw new DOMException("Access is denied.", "SecurityError");
    return act.call(this, key, ...more);
  };
}"""


@pytest.fixture
def masks(page: Page, book_url: str) -> Page:
    page.goto(f"{book_url}/{PAGE}")
    says(page, "0 of 4 done")
    return page


def test_what_is_exported_and_forgotten_comes_back_and_is_united(
    masks: Page, tmp_path: Path
) -> None:
    accept(masks, "masks-1")
    accept(masks, "masks-2")
    dialog = open_dialog(masks)
    file = export(dialog, tmp_path)
    assert json.loads(file.read_text("utf-8")) == json.loads(written(["masks-1", "masks-2"]))
    masks.once("dialog", lambda question: question.dismiss())
    press(dialog, "Forget all")
    says(masks, "2 of 4 done")
    forget(dialog)
    expect(said(dialog)).to_have_text("All marks are forgotten.")
    says(masks, "0 of 4 done")
    assert kept(masks) == []
    dialog.get_by_role("checkbox", name="masks-2").check()
    dialog.get_by_role("checkbox", name="masks-3").check()
    choose(dialog, file)
    expect(said(dialog)).to_contain_text(
        "“runnable-transformer-progress.json” holds 2 marks; new here: 1."
    )
    says(masks, "3 of 4 done")
    assert kept(masks) == ["masks-1", "masks-2", "masks-3"]


def test_marks_of_another_copy_of_the_book_are_kept_and_not_counted(
    masks: Page, tmp_path: Path
) -> None:
    (tmp_path / "other.json").write_text(written(["masks-77", "gating", "masks-1"]))
    choose(open_dialog(masks), tmp_path / "other.json")
    says(masks, "1 of 4 done")
    assert kept(masks) == ["gating", "masks-1", "masks-77"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("masks-2", "“a.json” holds no JSON, where a file that Export wrote is expected"),
        ("", "“a.json” holds no JSON"),
        ("null", "“a.json” holds JSON of something else"),
        ('["masks-2"]', "“a.json” holds JSON of something else"),
        (written(["masks-2"], book="Another"), "“a.json” holds JSON of something else"),
        (
            written(["masks-2"], version=0),
            "“a.json” has version 0 of the format, and this copy of the book reads version 1",
        ),
        (written(["masks-2"], version="x" * 99), 'has version "xxxxxxxxxxxxxxxxxxx of the format'),
        (written(["masks-2", "<img>"]), "“a.json” is damaged, as its marks are no list of names"),
        (written({"masks-2": 1}), "“a.json” is damaged"),
        (written(["masks-2"], more="x" * 100_000), "bytes, and no file that Export wrote has more"),
    ],
    ids=["text", "empty", "null", "list", "book", "version", "long", "mark", "object", "size"],
)
def test_another_file_is_refused_in_a_sentence_and_nothing_is_lost(
    masks: Page, tmp_path: Path, text: str, words: str
) -> None:
    accept(masks, "masks-1")
    (tmp_path / "a.json").write_text(text)
    dialog = open_dialog(masks)
    choose(dialog, tmp_path / "a.json")
    expect(said(dialog)).to_contain_text(words)
    expect(said(dialog)).to_contain_text("nothing was changed.")
    says(masks, "1 of 4 done")
    assert kept(masks) == ["masks-1"]
    (tmp_path / "a.json").write_text(written(["masks-3"]))  # the same file, mended
    choose(dialog, tmp_path / "a.json")
    says(masks, "2 of 4 done")


@pytest.mark.parametrize(
    ("script", "why"), [(FULL, "The quota is used up."), (OFF, "Access is denied.")]
)
def test_marks_that_cannot_be_kept_last_on_the_page_and_can_be_exported(
    page: Page, book_url: str, tmp_path: Path, script: str, why: str
) -> None:
    page.add_init_script(script)
    page.goto(f"{book_url}/{PAGE}")
    accept(page, "masks-1")
    accept(page, "masks-2")
    says(page, "2 of 4 done")
    dialog = open_dialog(page)
    expect(dialog.locator(".qkv-failure")).to_have_text(f"{UNKEPT} The reason: {why}")
    assert json.loads(export(dialog, tmp_path).read_text("utf-8"))["marks"] == [
        "masks-1",
        "masks-2",
    ]
    forget(dialog)
    says(page, "0 of 4 done")


def test_marks_are_kept_once_there_is_room_again(page: Page, book_url: str) -> None:
    page.goto(f"{book_url}/{PAGE}")
    page.evaluate(
        f"() => {{ {FULL} globalThis.makeRoom = () => (Storage.prototype.setItem = keep); }}"
    )
    accept(page, "masks-1")
    says(page, "1 of 4 done")
    page.evaluate("() => { makeRoom(); }")
    dialog = open_dialog(page)
    expect(dialog.locator(".qkv-failure")).to_have_text("")
    assert kept(page) == ["masks-1"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "7", "{", written(["masks"], version=2), written(["__proto__", 1]), "x" * 200_000],
    ids=["empty", "list", "number", "cut", "newer", "types", "huge"],
)
def test_what_else_stands_in_the_storage_is_left_there_until_it_is_forgotten(
    page: Page, book_url: str, text: str
) -> None:
    page.goto(f"{book_url}/{PAGE}")
    page.evaluate("([key, text]) => localStorage.setItem(key, text)", [KEY, text])
    page.reload()
    says(page, "0 of 4 done")
    accept(page, "masks-1")
    says(page, "1 of 4 done")
    dialog = open_dialog(page)
    expect(dialog.locator(".qkv-failure")).to_contain_text("until you press Forget all.")
    assert page.evaluate("(key) => localStorage.getItem(key)", KEY) == text
    forget(dialog)
    expect(dialog.locator(".qkv-failure")).to_have_text("")
    accept(page, "masks-2")
    says(page, "1 of 4 done")
    assert kept(page) == ["masks-2"]


def test_two_tabs_unite_their_marks(context: BrowserContext, book_url: str) -> None:
    one, other = context.new_page(), context.new_page()
    for page in (one, other):
        page.goto(f"{book_url}/{PAGE}")
    accept(one, "masks-1")
    says(other, "1 of 4 done")
    accept(other, "masks-2")
    says(one, "2 of 4 done")
    dialog = open_dialog(one)
    forget(dialog)
    says(other, "0 of 4 done")


def test_the_server_keeps_them_from_run_to_run(
    readers: Callable[..., Reader], browser: Browser, book: Path, tmp_path: Path
) -> None:
    with serving(book, data=tmp_path) as server:
        page = readers(server).open(PAGE).page
        accept(page, "masks-2")
        progress.read_to_the_end(page)
        says(page, "✓ 1 of 4 done")
        until(lambda: len(marks(server)) == 2, "they are not kept", page)
        assert marks(server) == {"masks": "done", "masks-2": "done"}
    with serving(book, data=tmp_path) as again:
        page = browser.new_page()
        page.goto(again.link(PAGE))
        says(page, "✓ 1 of 4 done")
        page.context.close()


def marks(server: Server) -> Any:
    return server.ask("book/_live/edits/progress").json["edits"]


def test_under_the_servers_policy_files_go_out_and_in(reader: Reader, tmp_path: Path) -> None:
    page = reader.open(PAGE).page
    accept(page, "masks-1")
    until(lambda: marks(reader.server), "nothing is kept", page)
    assert page.evaluate("(key) => localStorage.getItem(key)", KEY) is None
    dialog = open_dialog(page)
    expect(dialog).to_contain_text("kept on the machine that serves this book")
    file = export(dialog, tmp_path)
    forget(dialog)
    says(page, "0 of 4 done")
    assert marks(reader.server) == {}
    choose(dialog, file)
    says(page, "1 of 4 done")
    page.reload()
    says(page, "1 of 4 done")
    other = reader.open("chapters/03_attention.html").page
    expect(
        progress.mark_beside(other.locator(".bd-sidebar-primary nav a"), "05_masks")
    ).to_have_text("1/4")


def test_a_server_that_has_gone_is_told(
    readers: Callable[..., Reader], book: Path, tmp_path: Path
) -> None:
    with serving(book, data=tmp_path) as server:
        reader = readers(server)
        page = reader.open(PAGE).page
        says(page, "0 of 4 done")
        dialog = open_dialog(page)
        expect(dialog).to_contain_text("kept on the machine that serves this book")
    accept(page, "masks-1")
    expect(dialog.locator(".qkv-failure")).to_contain_text(UNKEPT)
    says(page, "1 of 4 done")
