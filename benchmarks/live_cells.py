"""How soon live cells answer: the first result after the button, a cell, a slider; what that loads.

    python benchmarks/live_cells.py

A real server and Chromium, timed by the page's own clock (live_cells.js). Each first result is that
of a fresh context and a fresh kernel. Writes results/live_cells.json and results/live_cells.md
beside this file.
"""

from __future__ import annotations

import gzip
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from pages import BOOK, book_in_chromium, keep
from playwright.sync_api import Browser, BrowserContext, Page, Response
from results import Figures

from tests.helpers.live_server import Server, kernels, serving

SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
FIRST = '[data-qkv-cell="0"]'
OUTPUT = f"{FIRST} .qkv-live-output"
TORCH = "import torch\nprint(torch.__version__)"
SLIDER = """\
import ipywidgets
from IPython.display import display
slider, label = ipywidgets.IntSlider(0, 0, 1000), ipywidgets.Label("none")
slider.observe(lambda change: setattr(label, "value", f"got {change['new']}."), "value")
display(slider, label)"""
ROUNDS, TIMES = 5, 50
PATIENCE = 120_000  # ms


@contextmanager
def live(browser: Browser, server: Server, path: str) -> Iterator[Page]:
    """A page of the book in a fresh context, its first cell in sight; its kernel ends with it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = opened(context, server, path)
    page.locator("div.cell .cell_input").first.scroll_into_view_if_needed()
    page.wait_for_load_state("networkidle")
    page.evaluate(f"globalThis.bench = {SCRIPT}; null")
    yield page
    context.close()
    for session in server.ask("api/sessions").json:
        server.ask(f"api/sessions/{session['id']}", "DELETE", server.xsrf)


def opened(context: BrowserContext, server: Server, path: str) -> Page:
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(server.link(path))
    return page


def first_results(browser: Browser, server: Server, path: str, code: str = "") -> dict[str, Any]:
    """Milliseconds from the press to a ready bar, and to the end of the first cell; medians."""
    ready, done = [], []
    for _ in range(ROUNDS):
        with live(browser, server, path) as page:
            times = page.evaluate("code => bench.firstResult(code)", code)
            ready.append(times["ready"])
            done.append(times["done"])
    return {"ready": spread(ready), "done": spread(done)}


def replies(page: Page, key: str, text: Callable[[int], str]) -> list[float]:
    """Milliseconds from each press of a key to the change that it makes in the first output."""
    times = []
    for i in range(1, TIMES + 1):
        page.evaluate("args => { bench.answer(...args); }", ["keydown", OUTPUT, text(i)])
        page.keyboard.press(key)
        times.append(page.evaluate("qkvAnswer.then(({ ms }) => ms)"))
    return times


def cells_and_sliders(browser: Browser, server: Server, path: str) -> dict[str, Any]:
    """Round trips of `1 + 1` and of a slider, and what the server and the kernel weigh."""
    with live(browser, server, path) as page:
        page.evaluate("bench.firstResult('1 + 1')")
        page.locator(f"{FIRST} .CodeMirror").click()
        trips = replies(page, "Shift+Enter", lambda _: "2")
        (kernel,) = kernels(server.process)
        weight = {"server": megabytes(server.process.pid), "kernel": megabytes(kernel.pid)}
        page.evaluate("code => bench.run(code)", SLIDER)
        page.locator(f"{OUTPUT} .noUi-handle").focus()
        slides = replies(page, "ArrowRight", lambda i: f"got {i}.")
        page.evaluate("code => bench.run(code)", TORCH)
        weight["kernel with torch"] = megabytes(kernel.pid)
    return {"`1 + 1`": spread(trips), "slider": spread(slides), "memory, MB": weight}


def off_the_grid(browser: Browser, server: Server, path: str) -> dict[str, float]:
    """A number typed into an explorer, to the picture that Python computed for it."""
    with live(browser, server, path) as page:
        page.evaluate("bench.firstResult('')")
        page.locator(".qkv-live-run-all").click()
        page.locator(".qkv-live-output .qkv-kernel-inputs input").first.wait_for(state="attached")
        while page.locator("[data-qkv-state=queued], [data-qkv-state=running]").count():
            page.wait_for_timeout(200)
        return spread(
            [page.evaluate("n => bench.offGrid(n)", (11, 13)[i % 2]) for i in range(TIMES)]
        )


def loaded(browser: Browser, server: Server, path: str) -> dict[str, int]:
    """Requests and bytes from the press until Python is ready; gzip is what a host would send."""
    answers: list[Response] = []
    with live(browser, server, path) as page:
        page.on("response", lambda answer: answers.append(answer))
        page.evaluate("bench.firstResult('')")
        bodies = [answer.body() for answer in answers]
    sizes = [len(body) for body in bodies]
    packed = [len(gzip.compress(body, 6)) for body in bodies]
    return {"requests": len(bodies), "bytes": sum(sizes), "gzip": sum(packed)}


def spread(times: list[float]) -> dict[str, float]:
    p95 = statistics.quantiles(times, n=20, method="inclusive")[-1]
    return {"median": round(statistics.median(times), 1), "p95": round(p95, 1)}


def megabytes(process: int) -> int:
    """Memory that only this process holds."""
    return round(float(psutil.Process(process).memory_full_info().uss) / 1e6)


def table(figures: Figures) -> str:
    """The figures in Markdown."""
    lines = [
        "# How soon live cells answer",
        "",
        f"Milliseconds; the load of the machine at the end was {figures['load']}. From the "
        f"press to the first cell's result, {ROUNDS} fresh kernels each (aim: 1,500; with "
        "`import torch` in it 2,500); in brackets until Python is ready:",
        "",
        "| page | median | slowest | with torch, median |",
        "|---|--:|--:|--:|",
    ]
    for row in figures["pages"]:
        plain, torch = row["first"], row["torch"]
        lines.append(
            f"| {row['page']} | {plain['done']['median']:.0f} ({plain['ready']['median']:.0f}) "
            f"| {plain['done']['p95']:.0f} | {torch['done']['median']:.0f} |"
        )
    lines += [
        "",
        f"{TIMES} times each:",
        "",
        "| from, to | aim | median | p95 |",
        "|---|--:|--:|--:|",
    ]
    for name, words, aim in (
        ("`1 + 1`", "Shift-Enter, to the output of `1 + 1`", 15),
        ("slider", "arrow key on a slider, to the label that Python writes", 20),
        ("off the grid", "number typed into an explorer, to Python's picture", 20),
    ):
        lines.append(f"| {words} | {aim} | {figures[name]['median']} | {figures[name]['p95']} |")
    load, weight = figures["loaded"], figures["memory, MB"]
    lines += [
        "",
        f"The button loads {load['requests']} answers, {load['bytes'] / 1000:.0f} kB "
        f"({load['gzip'] / 1000:.0f} with gzip). From the server's start to its first page, drawn: "
        f"{figures['start']:.0f} ms. Memory in MB: "
        + ", ".join(f"{name} {megabyte}" for name, megabyte in weight.items())
        + ".",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    pages = [
        p for p in sorted(BOOK.glob("chapters/*.html")) if "live/toolbar.js" in p.read_text("utf-8")
    ]
    if not pages:
        sys.exit("The book is not built: run make html first.")
    names = [page.relative_to(BOOK).as_posix() for page in pages]
    with book_in_chromium() as (browser, _):
        before = time.perf_counter()
        with serving(BOOK, signed_in=False) as server:
            context = browser.new_context()
            opened(context, server, names[0])
            start = 1000 * (time.perf_counter() - before)
            context.close()
            server.sign_in()
            rows = [
                {
                    "page": name,
                    "first": first_results(browser, server, name),
                    "torch": first_results(browser, server, name, TORCH),
                }
                for name in names
            ]
            figures = {
                "pages": rows,
                **cells_and_sliders(browser, server, names[0]),
                "off the grid": off_the_grid(browser, server, names[0]),
                "loaded": loaded(browser, server, names[0]),
                "start": start,
            }
        keep("live_cells", browser, figures, table)


if __name__ == "__main__":
    main()
