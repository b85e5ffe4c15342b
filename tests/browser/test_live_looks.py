"""Live cells by keyboard, by ear, in the dark, and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.live import CHAPTERS, CONTRAST, LivePage, Reader
from tests.browser.test_pages import NAMELESS
from tests.helpers.live_server import Server
from tests.helpers.waiting import view

COLOURFUL = '''@property
def attend(x, mask=None):  # a comment
    """A docstring."""
    return len(x) + 0x1F * 2.5 if x is not None else f"text {x!r}" + str(True)
class A: pass
'''
ACTIVE = """() => {
  const at = document.activeElement;
  const cell = at.closest("[data-qkv-cell]")?.dataset.qkvCell;
  return [at.className || at.tagName, cell ?? "", !!at.closest(".CodeMirror"), at.className];
}"""


# Colours that move arrive at once.
AT_REST = "document.getAnimations().forEach((moving) => moving.finish())"


def active(live: LivePage) -> tuple[str, str, bool]:
    name, cell, editing, _ = live.page.evaluate(ACTIVE)
    return str(name), str(cell), bool(editing)


def tab_to(live: LivePage, wanted: Callable[[], bool], key: str = "Tab", most: int = 120) -> None:
    for _ in range(most):
        if wanted():
            return
        live.page.keyboard.press(key)
    pytest.fail(f"{key} does not get there; it is at {active(live)}")


def test_by_keyboard_alone(reader: Reader) -> None:
    """Tab to the button, Enter, on into an editor, out of it in both directions."""
    live = reader.open()
    keyboard = live.page.keyboard
    tab_to(live, lambda: "qkv-live-start" in active(live)[0])
    keyboard.press("Enter")
    live.wait("ready")
    keyboard.press("Tab")
    assert "qkv-live-run-all" in active(live)[0], "the focus is lost"
    first = live.plain()[0]
    live.editor(first).wait_for()
    tab_to(live, lambda: active(live)[1:] == (str(first), True))
    keyboard.press("Control+a")
    keyboard.type("if True:")
    keyboard.press("Enter")
    keyboard.press("Tab")
    keyboard.type("x = 1")
    keyboard.press("Shift+Enter")
    live.ends(first, "done")
    assert "\n    " in live.text(first)
    keyboard.press("Escape")
    assert active(live) == ("qkv-run", str(first), False)
    keyboard.press("Enter")
    live.ends(first, "done")
    tab_to(live, lambda: int(active(live)[1] or -1) > first)
    tab_to(live, lambda: "qkv-live" in active(live)[0], "Shift+Tab", most=24)


def test_no_editor_holds_the_focus(live: LivePage) -> None:
    """Escape and Tab go forwards through the first cells, Shift-Tab backwards."""
    live.editor(0)
    live.page.locator(".qkv-live-reset-all").focus()
    seen = set()
    for _ in range(12):
        live.page.keyboard.press("Tab")
        if active(live)[2]:
            live.page.keyboard.press("Escape")
        seen.add(active(live)[1])
    assert {"0", "2"} <= seen
    tab_to(live, lambda: "qkv-live" in active(live)[0], "Shift+Tab", most=30)


def test_reset_by_keyboard_keeps_the_focus(live: LivePage) -> None:
    """The button goes when the cell is the book's again, but not from under the keyboard."""
    first = live.plain()[0]
    original = live.text(first)
    live.write(first, "1 + 1")
    live.cell(first).locator(".qkv-run").focus()
    live.page.keyboard.press("Tab")
    live.page.keyboard.press("Enter")
    assert live.text(first) == original
    assert active(live) == ("qkv-reset", str(first), False)
    live.page.keyboard.press("Tab")
    expect(live.cell(first).locator(".qkv-reset")).to_be_hidden()


def test_everything_has_a_name(live: LivePage) -> None:
    first = live.plain()[0]
    live.run(first, "print(1)")
    assert live.page.evaluate(NAMELESS) == []
    page = live.page
    expect(page.get_by_role("region", name="Live code")).to_be_visible()
    for name in ("Run all", "Interrupt", "Restart", "Stop", "Reset all"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
    number = first + 1
    expect(
        page.get_by_role("button", name=re.compile(f"Run cell {number} of \\d+$", re.I))
    ).to_be_visible()
    expect(
        page.get_by_role("button", name=re.compile(f"Reset cell {number}\\b", re.I))
    ).to_be_visible()
    group = page.get_by_role("group", name=re.compile(f"Output of cell {number} of \\d+$", re.I))
    expect(group).to_have_text("1")
    field = live.editor(first).locator("textarea, [contenteditable=true]").last
    assert re.search(f"cell {number}", field.get_attribute("aria-label") or "", re.I)
    assert live.message.get_attribute("role") == "status"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_have_contrast(live: LivePage, theme: Any) -> None:
    """Editor, bar, tools: text against what lies under it, at least 4.5 to 1."""
    view(live.page, color_scheme=theme)
    expect(live.page.locator("html")).to_have_attribute("data-theme", theme)
    first = live.plain()[0]
    live.run(first, COLOURFUL)
    tokens = live.editor(first).locator(".CodeMirror-line span[class^=cm-]")
    kinds = set(tokens.evaluate_all("all => all.map((e) => e.className)"))
    assert {"cm-keyword", "cm-string", "cm-comment", "cm-number", "cm-builtin"} <= kinds
    bar = live.page.locator(".qkv-live-bar button, .qkv-live-message")
    tools = live.cell(first).locator(".qkv-cell-tools > *")
    live.page.evaluate(AT_REST)
    found = [part for of in (tokens, bar, tools) for part in of.evaluate_all(CONTRAST)]
    tokens.evaluate_all(
        """(all) => all.forEach((e) => {
          e.style.backgroundColor = getComputedStyle(e, "::selection").backgroundColor;
        })"""
    )
    selected = tokens.evaluate_all(CONTRAST)
    view(live.page, color_scheme="light")
    assert len(found) > 20
    pale = [part for part in found if part[2] < 4.5]
    assert not pale, pale
    assert not [part for part in selected if part[2] < 3]


def test_a_fold_opens_on_an_editor_with_its_code(live: LivePage) -> None:
    """Also where the cell was run before, and so its editor made out of sight."""
    folds = live.page.locator("[data-qkv-cell]:has(> details:not([open]) .cell_input)")
    numbers = folds.evaluate_all("cells => cells.slice(0, 2).map((c) => Number(c.dataset.qkvCell))")
    live.run_before(numbers[0])
    live.run(numbers[0])
    for n in numbers:
        live.cell(n).locator("summary").first.click()
        expect(live.editor(n).locator(".CodeMirror-line").first).to_be_visible()
        line = "e => e.offsetHeight / e.CodeMirror.lineCount()"
        assert 10 < live.editor(n).evaluate(line) < 40
        live.cell(n).locator("summary").first.click()


def test_a_long_message_is_whole(live: LivePage) -> None:
    live.run(live.plain()[0], "no_such_name_of_some_length", state="error")
    expect(live.message).to_contain_text("Run all runs them")
    cut = "(e) => e.scrollHeight - e.clientHeight"
    assert live.message.evaluate(cut) <= 1
    view(live.page, {"width": 375, "height": 700})
    assert live.message.evaluate(cut) <= 1
    view(live.page, {"width": 1280, "height": 900})


@pytest.fixture
def phone(readers: Callable[..., Reader], live_server: Server) -> Reader:
    return readers(live_server, viewport={"width": 375, "height": 700}, color_scheme="dark")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_on_a_phone_nothing_is_wider_than_the_page(phone: Reader, chapter: str) -> None:
    live = phone.open(chapter)
    live.bar.scroll_into_view_if_needed()
    live.start()
    first = live.plain()[0]
    live.run(first, "print('wide ' * 200)\n" + "x = " + " + ".join(["1"] * 200))
    wide = live.page.evaluate(
        """() => document.documentElement.scrollWidth <= innerWidth ? [] :
          [...document.querySelectorAll("main *")]
            .filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
            .map((e) => e.tagName + "." + e.className).slice(0, 8)"""
    )
    assert not wide, wide
    live.cell(first).scroll_into_view_if_needed()
    for button in live.bar.locator("button:visible").all():
        box = button.bounding_box()
        assert box
        assert box["height"] >= 24
        assert box["width"] >= 24
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 375
    bar = live.bar.bounding_box()
    assert bar
    assert bar["y"] >= 0, "the bar is not in sight where the cells are"
    assert bar["height"] < 200, "the bar leaves no room"
    live.run(first, "1 / 0", state="error")
    assert live.page.evaluate("document.documentElement.scrollWidth") <= 375


def test_an_output_cannot_lead_the_page_away(live: LivePage) -> None:
    n, address = live.plain()[0], live.page.url
    meta = "<meta http-equiv=refresh content='0;url=index.html'><META/name=x>"
    made = f"from IPython.display import HTML, Markdown\nmeta = {meta!r}\n"
    shown = live.run(n, f"{made}display(HTML(meta + '<p>one</p>'), Markdown(meta + ' two'))")
    expect(shown).to_contain_text("one")
    expect(shown).to_contain_text("two")
    expect(shown.locator("meta")).to_have_count(0)
    shown = live.run(n, f"import ipywidgets\nipywidgets.HTML({meta!r} + 'three')")
    expect(shown).to_contain_text("three")
    expect(shown.locator("meta")).to_have_count(0)
    assert live.prints(n, "print('<meta >')") == "<meta >"
    assert live.page.url == address
