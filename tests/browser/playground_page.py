"""A small page with a playground on it, as the build makes one."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ipywidgets import Widget
from playwright.sync_api import Browser, Locator, Page, expect

from qkv.notebooks.widget_state import STATE_MIME, VIEW_MIME, normalize_notebook
from tests.browser.model_page import write_page

explorers = importlib.import_module("explorers")
START = "The cat sat on the mat"
KOREAN = "고양이가 매트 위에 앉았다"
STILL = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
PHONE = {"viewport": {"width": 375, "height": 800}, "reduced_motion": "reduce", "has_touch": True}
ICON = '<link rel="icon" href="data:,">'
SCRIPTS = """<script src="site.js" defer></script><script src="explorers.js" async></script>
<script src="model/load_model.js" defer></script><script src="playground.js" defer></script>
<link rel="stylesheet" href="explorers.css"><link rel="stylesheet" href="playground.css">"""
STYLE = """body { margin: 0 auto; max-width: 46rem; padding: 0 1rem; font-family: sans-serif; }
html[data-theme=dark] body { background: #14161f; color: #e6e8f0; }"""


def translates(root: Locator) -> None:
    """The playground says the translation of the sentence about the cat."""
    said = root.locator(".qkv-announcement")
    expect(said).to_have_text(f"Translation: {KOREAN}")


def stored(box: Widget) -> dict[str, object]:
    """The state of a box as a notebook stores it, and its view, by their kinds."""
    cell = {"outputs": [{"data": {VIEW_MIME: {"model_id": box.model_id}}}]}
    widgets = {STATE_MIME: Widget.get_manager_state()}
    notebook = normalize_notebook({"metadata": {"widgets": widgets}, "cells": [cell]})
    return {**notebook["metadata"]["widgets"], **notebook["cells"][0]["outputs"][0]["data"]}


def write_playground(folder: Path, box: Widget) -> Path:
    """A page that shows this box alone, with all that it loads beside it."""
    write_page(folder)
    for name, text in explorers.file_texts().items():
        (folder / name).write_text(text, "utf-8")
    data = "".join(
        f'<script type="{kind}">{json.dumps(content)}</script>'
        for kind, content in stored(box).items()
    )
    page = folder / "page.html"
    page.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Playground</title>{ICON}'
        f'<meta name="viewport" content="width=device-width">{SCRIPTS}<style>{STYLE}</style>'
        f"<main><h1>Playground</h1>{data}<p>The page goes on.</p></main></html>",
        "utf-8",
    )
    return page


class Box:
    """The playground on a page, as a reader meets it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.root = page.locator(".qkv-playground")
        self.field = page.get_by_role("combobox")
        self.options = page.get_by_role("option")
        self.status = page.locator(".qkv-said [role=status]")
        self.said = page.locator(".qkv-announcement")
        self.own = page.locator(".qkv-own-model")

    def translate(self, text: str) -> None:
        self.field.fill(text)
        self.field.press("Enter")

    def wait_for(self, text: str) -> None:
        self.page.wait_for_function(
            "(text) => document.querySelector('.qkv-playground').textContent.includes(text)",
            arg=text,
        )


@contextmanager
def playgrounds(browser: Browser, folder: Path) -> Iterator[Callable[..., Box]]:
    """Opens the page of a folder; nothing may go wrong on it unseen."""
    contexts, problems = [], []

    def open_page(prepare: Callable[[Any], None] = lambda page: None, **options: Any) -> Box:
        context = browser.new_context(**STILL | options)
        contexts.append(context)
        page: Any = context.new_page()
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url.rpartition("/")[2]))
        page.on("pageerror", lambda error: problems.append(str(error)))
        prepare(page)
        page.goto((folder / "page.html").as_uri())
        page.wait_for_selector(".qkv-playground")
        return Box(page)

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []
