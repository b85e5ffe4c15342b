"""How long a move on an explorer takes on the built page, and how soon the first one is drawn.

    python benchmarks/sliders.py

On each page with an explorer 50 moves of its sliders and of its choices' buttons: the handler is
timed by dispatching `input` to a slider or clicking a button, the repaint by the frame that follows
it. The first drawing is timed from the start of a cold visit, by the page's own clock. Writes
results/sliders.json and results/sliders.md beside this file.
"""

from __future__ import annotations

import statistics
import sys
from typing import Any

from pages import BOOK, FIRST_DRAWN, VISITS, book_in_chromium, keep
from playwright.sync_api import Browser, Page
from results import Figures

MOVES = 50
AIM_MS = 8
# A round of all sliders and choices of the page, each one place further, back at the end.
MOVE = """
async (moves) => {
  const controls = [...document.querySelectorAll(
    ".qkv-controls input[type=range], .qkv-controls .qkv-choice")];
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const slide = (slider) => {
    slider.value = (Number(slider.value) + 1) % (Number(slider.max) + 1);
    slider.dispatchEvent(new Event("input"));
  };
  const press = (choice) => {
    const buttons = [...choice.querySelectorAll("input")];
    buttons[(buttons.findIndex((button) => button.checked) + 1) % buttons.length].click();
  };
  const times = [];
  for (let i = 0; i < moves; i++) {
    const control = controls[i % controls.length];
    await painted();
    const before = performance.now();
    if (control.type === "range") slide(control);
    else press(control);
    const handled = performance.now();
    await painted();
    times.push([handled - before, performance.now() - before]);
  }
  return times;
}
"""


def visit(browser: Browser, url: str) -> tuple[Page, float]:
    """A cold visit: the page in a context of its own, and ms to its first explorer."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.add_init_script(FIRST_DRAWN)
    page.goto(url)
    page.wait_for_function("globalThis.firstDrawn")
    return page, page.evaluate("firstDrawn")


def measure(browser: Browser, home: str, path: str) -> dict[str, Any]:
    drawn, url = [], f"{home}/{path}"
    for _ in range(VISITS):
        page, ms = visit(browser, url)
        drawn.append(ms)
        page.context.close()
    page, _ = visit(browser, url)
    times = page.evaluate(MOVE, MOVES)
    page.context.close()
    handler, repaint = zip(*times, strict=True)
    return {
        "page": path,
        "first drawn": round(statistics.median(drawn)),
        "handler": spread(handler),
        "repaint": spread(repaint),
    }


def spread(times: tuple[float, ...]) -> dict[str, float]:
    p95 = statistics.quantiles(times, n=20)[-1]
    return {"median": round(statistics.median(times), 1), "p95": round(p95, 1)}


def table(figures: Figures) -> str:
    """The figures in Markdown."""
    rows = figures["pages"]
    good = sum(row["handler"]["p95"] < AIM_MS for row in rows)
    lines = [
        "# How fast a slider answers",
        "",
        f"Milliseconds by the clock over {MOVES} moves a page; 95 of 100 moves take at most *p95*. "
        f"Aim: p95 of the handler under {AIM_MS}; {good} of {len(rows)} pages meet it here. The "
        f"load of the machine was {figures['load']}: what else runs on it makes single moves late.",
        "",
        "| page | handler, median | handler, p95 | to repaint, median | to repaint, p95 "
        "| first explorer drawn |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        cells = [row[kind][which] for kind in ("handler", "repaint") for which in ("median", "p95")]
        cells.append(row["first drawn"])
        lines.append(f"| {row['page']} | {' | '.join(str(cell) for cell in cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    pages = [p for p in sorted(BOOK.rglob("*.html")) if "explorers.js" in p.read_text("utf-8")]
    if not pages:
        sys.exit("The book is not built, or no page has an explorer: run make html first.")
    with book_in_chromium() as (browser, home):
        rows = [measure(browser, home, p.relative_to(BOOK).as_posix()) for p in pages]
        figures = {"pages": rows}
        keep("sliders", browser, figures, table)


if __name__ == "__main__":
    main()
