"""Every chapter in the browser, all of its cells run live: what they show is what is stored.

`make test-live` runs this; a chapter needs nothing written here.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from qkv.language import ENGLISH, languages
from tests.browser.conftest import BOOK
from tests.browser.editions import language_of, looked_at
from tests.browser.live import LivePage, Reader, free
from tests.browser.shown import snapshot
from tests.chapters.live.shown import OUTPUTS, WIDGET, joined, shown, stored
from tests.helpers.live_server import Server, run
from tests.helpers.waiting import until, view
from tools.kernels import PROBE, Setting

ROOT = Path(__file__).parents[3]
PAGES = looked_at(
    path.relative_to(BOOK).as_posix()
    for folder in map(Path, ("chapters", *(f"{one}/chapters" for one in languages())))
    for path in (BOOK / folder).glob("[0-9][0-9]_*.html")
)
EXPLORER, PLAYGROUND = ".qkv-explorer:has([data-panel])", ".qkv-playground:has(form)"
BOX = f":is({EXPLORER}, {PLAYGROUND})"
WAITING, FAILED = {"idle", "queued", "running"}, {"error", "lost", "dead"}
STATES = "cells => cells.map(c => c.dataset.qkvState)"


def code_cells(path: Path) -> list[dict[str, Any]]:
    """The code cells of a notebook that its page shows."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    hidden = {"remove-cell", "remove-input"}
    return [
        cell
        for cell in cells
        if cell["cell_type"] == "code" and not hidden & {*cell["metadata"].get("tags", [])}
    ]


def finish(live: LivePage, names: list[str]) -> list[str]:
    """Wait for one cell after the other; the state in which each ended."""

    def states() -> list[str]:
        found: list[str] = live.cells().evaluate_all(STATES)
        return found

    def said() -> str:
        words = "\n".join(f"{name}: {one}" for name, one in zip(names, states(), strict=True))
        return f"not done; the bar says {live.message.text_content()!r}\n{words}"

    for n in range(len(names)):
        until(lambda n=n: states()[n] not in WAITING or FAILED & {*states()}, said, live.page)
    return states()


def picture(page: Page, place: str) -> list[Any]:
    """What each explorer in a cell shows: its values, and its panels to the last number."""
    found = page.locator(f"{place} {EXPLORER}")
    views = [snapshot(found.nth(i)) for i in range(found.count())]
    for panel in (panel for explorer in views for panel in explorer["panels"]):
        for cell in panel["cells"]:
            if cell["hatched"]:
                del cell["rgb"]  # of a pattern, that is the number in its name
    return [(view["values"], view["panels"]) for view in views]


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    """Where two pictures differ. Numbers of the page, such as colours, may by 0.01."""
    if isinstance(one, float | int) and isinstance(other, float | int):
        return [] if abs(one - other) < 0.01 else [f"{place}: {one} and {other}"]
    if type(one) is not type(other) or not isinstance(one, dict | list | tuple):
        return [] if one == other else [f"{place}: {one!r} and {other!r}"]
    if len(one) != len(other):
        return [f"{place}: {len(one)} and {len(other)} parts"]
    keys = one if isinstance(one, dict) else range(len(one))
    return [words for key in keys for words in differences(one[key], other[key], f"{place}.{key}")]


def test_the_kernels_are_others_than_this_processor_would_take(
    live_server: Server, setting: Setting
) -> None:
    kernel = live_server.session()["kernel"]["id"]
    with closing(live_server.socket(kernel)) as line:
        assert setting.shows in run(line, PROBE)
    free(live_server)


def notebook_of(address: str) -> Path:
    """The stored notebook of a chapter's page."""
    language = language_of(address)
    folder = ROOT / "chapters" / ("" if language == ENGLISH else language)
    return folder / f"{Path(address).stem}.ipynb"


def test_every_chapter_has_a_page() -> None:
    chapters = {f"chapters/{path.stem}.html" for path in ROOT.glob("chapters/*.ipynb")}
    assert chapters <= set(PAGES)


@pytest.mark.parametrize("address", PAGES)
def test_every_cell_runs_and_shows_what_is_stored(reader: Reader, address: str) -> None:
    cells = code_cells(notebook_of(address))
    names = [cell["id"] for cell in cells]
    live = reader.open(address)
    page = live.page
    view(page, reduced_motion="reduce")  # a colour read is a colour reached
    boxes = [n for n, c in enumerate(cells) if (WIDGET, "") in stored(c)]
    expect(page.locator(f".cell_output {BOX}")).to_have_count(len(boxes))
    sources = page.locator("div.cell .cell_input pre").all_text_contents()
    assert [s.strip() for s in sources] == [joined(cell["source"]).strip() for cell in cells]
    live.start()
    before = {n: picture(page, f"[data-qkv-cell='{n}'] .cell_output") for n in boxes}

    live.act("run-all")
    states = finish(live, names)
    assert Counter(states) == {"done": len(cells)}, (
        dict(zip(names, states, strict=True)),
        live.message.text_content(),
    )
    for n, cell in enumerate(cells):
        wanted = stored(cell)
        for image in live.cell(n).locator(".qkv-live-output img").all():
            expect(image).to_have_js_property("complete", True)
        got = shown(live.cell(n).evaluate(OUTPUTS))
        assert got == wanted, f"cell {n}, {names[n]}"
        if n in boxes:
            live.output(n).scroll_into_view_if_needed()
            place = f"[data-qkv-cell='{n}'] .qkv-live-output"
            expect(page.locator(f"{place} {BOX}")).to_have_count(1)
            playgrounds = page.locator(f"{place} {PLAYGROUND}").count()
            assert len(before[n]) + playgrounds == 1, names[n]
            assert not differences(picture(page, place), before[n]), f"cell {n}, {names[n]}"
