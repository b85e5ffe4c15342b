"""The page of measurements as built: every result with its date, and wide tables in their boxes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.helpers.waiting import view

ROOT = Path(__file__).parents[2]
RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.json"))
EXPERIMENTS = list((ROOT / "src" / "qkv" / "experiments" / "results").glob("*.json"))


@pytest.fixture
def measurements(page: Page, book_url: str) -> Page:
    page.goto(f"{book_url}/book/measurements.html")
    return page


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_is_shown_with_its_date_and_command(measurements: Page, path: Path) -> None:
    result = json.loads(path.read_text("utf-8"))
    title = path.with_suffix(".md").read_text("utf-8").partition("\n")[0].removeprefix("# ")
    title = title.replace("'", "’")  # as the page has it
    section = measurements.locator("article section section section").filter(
        has=measurements.get_by_role("heading", name=title, level=3)
    )
    text = section.first.inner_text()  # one title begins as another does
    for fact in (result["date"], result["machine"], result["command"]):
        assert fact in text
    assert section.first.locator("table").count()


def test_every_picture_is_loaded(measurements: Page) -> None:
    pictures = measurements.locator("article img")
    assert pictures.count()
    pictures.evaluate_all("all => Promise.all(all.map((i) => i.decode()))")


def test_every_stored_experiment_has_a_row(measurements: Page) -> None:
    rows = measurements.locator(".qkv-experiments tbody tr")
    assert rows.count() == len(EXPERIMENTS)
    text = rows.all_inner_texts()
    assert all(any(path.stem in row for row in text) for path in EXPERIMENTS)


def test_wide_tables_scroll_inside_their_own_box(measurements: Page) -> None:
    view(measurements, {"width": 375, "height": 800})
    boxes = measurements.locator(".pst-scrollable-table-container")
    wide = boxes.evaluate_all("all => all.filter((e) => e.scrollWidth > e.clientWidth).length")
    assert wide
    assert measurements.evaluate("document.documentElement.scrollWidth") <= 375
