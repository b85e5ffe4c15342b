"""Press every button of an explorer's choices, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from playwright.sync_api import Locator, expect

from qkv.explore.framework.ranges import is_numeric
from tests.browser.shown import compare, snapshot
from tests.helpers.waiting import until

TOUCH = 44  # px: what a finger hits


def press_every_button(
    box: Locator, fn: Callable[..., Any], axes: Sequence[Any], keyboard: bool = True
) -> None:
    """Fail unless each button shows what `fn` returns there."""
    choices = [axis for axis in axes if not is_numeric(axis["values"])]
    assert box.get_by_role("radiogroup").count() == len(choices)
    for axis in choices:
        group = box.get_by_role("radiogroup", name=axis["label"], exact=True)
        assert group.locator("label").all_text_contents() == axis["texts"]
        by_mouse(box, group, fn, axis)
        if keyboard:
            by_keyboard(box, group, fn, axis)


def by_mouse(box: Locator, group: Locator, fn: Callable[..., Any], axis: Any) -> None:
    for button, value in zip(group.locator("label").all(), axis["values"], strict=True):
        size = button.bounding_box()
        assert size
        assert min(size["width"], size["height"]) >= TOUCH
        button.click()
        shows(box, fn, axis, value)
        expect(button.get_by_role("radio")).to_be_checked()


def by_keyboard(box: Locator, group: Locator, fn: Callable[..., Any], axis: Any) -> None:
    """Arrow keys go round; Tab leaves the group, and comes back to the button that is pressed."""
    radios = group.get_by_role("radio")
    radios.last.focus()
    for radio, value in zip(radios.all(), axis["values"], strict=True):
        box.page.keyboard.press("ArrowRight")
        expect(radio).to_be_focused()
        shows(box, fn, axis, value)
    for key in ("Tab", "Shift+Tab"):
        box.page.keyboard.press(key)
        expect(group.locator(":focus")).to_have_count(int(key != "Tab"))
    expect(radios.last).to_be_focused()
    box.page.keyboard.press("ArrowLeft")
    shows(box, fn, axis, axis["values"][-2])


def shows(box: Locator, fn: Callable[..., Any], axis: Any, value: Any) -> None:
    root = box.locator(".qkv-explorer")

    def arrived() -> Any:
        shown = snapshot(root)
        return shown if shown["values"][axis["name"]] == value else None

    shown = until(arrived, f"{axis['label']} never became {value}", page=box.page)
    compare(shown, fn(**shown["values"]))
