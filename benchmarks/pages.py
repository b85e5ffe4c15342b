"""What each page of the built book weighs on a first visit, and when its first explorer is drawn.

    python benchmarks/pages.py

Everything that Chromium asks for is counted as a server would send it: text compressed with gzip,
fonts and pictures as they are. Figures further down are asked for when a reader comes near them;
the last column has them all. The explorer is timed by the page's own clock. Writes
results/pages.json, .md and .svg beside this file.
"""

from __future__ import annotations

import functools
import gzip
import os
import statistics
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, sync_playwright
from results import Figures, new_figure, save_figure, save_results

from qkv.plot import COLOURS

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.browser import INSTALL_HINT, READERS, find_browser  # noqa: E402

BOOK = ROOT / "_build" / "html"
AIM_KB, AIM_MS = 200, 400
KINDS = ("page", "style", "script", "fonts", "images")
KIND_COLOURS = (COLOURS["ink"], "#8187B8", COLOURS["ochre"], "#D9B06A", COLOURS["grey"])
FONTS = (".woff", ".woff2")
COMPRESSED = {".png", ".jpg", *FONTS}
VISITS = 5
DRAWN = ("first explorer drawn, ms", "quickest, ms")
# By the page's own clock, which begins as the reader asks for it.
FIRST_DRAWN = """
new MutationObserver((_, watch) => {
  if (!document.querySelector(".qkv-explorer svg")) return;
  globalThis.firstDrawn = performance.now();
  watch.disconnect();
}).observe(document, { childList: true, subtree: true });
"""
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Print the table only."""


@contextmanager
def book_in_chromium() -> Iterator[tuple[Browser, str]]:
    """Chromium, and the address where the built book is served to it."""
    program = find_browser(READERS)
    if program is None:
        sys.exit(INSTALL_HINT)
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=BOOK))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser, f"http://127.0.0.1:{server.server_port}"
        browser.close()
    server.shutdown()


def keep(name: str, browser: Browser, figures: Figures, table: Callable[[Figures], str]) -> None:
    """Keep what a browser has shown, with the machine's load, and print the table of it."""
    figures["load"] = round(os.getloadavg()[1], 1)
    text = table(figures)
    save_results(name, text, figures, {"Chromium": browser.version})
    print(text, end="")


def sent_bytes(path: Path) -> int:
    data = path.read_bytes()
    return len(data) if path.suffix in COMPRESSED else len(gzip.compress(data, 6))


def kind_of(path: Path) -> str:
    kinds = {".html": "page", ".css": "style", ".js": "script"} | dict.fromkeys(FONTS, "fonts")
    return kinds.get(path.suffix, "images")


class Visit(NamedTuple):
    first: set[Path]
    to_the_end: set[Path]
    drawn: float | None


def visit(browser: Browser, url: str) -> Visit:
    """Open a page in a fresh context: the files it asks for, and milliseconds to an explorer."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.add_init_script(FIRST_DRAWN)
    asked: set[Path] = set()
    page.on("request", lambda request: asked.add(file_of(request.url)))
    page.goto(url)
    drawn = None
    if page.locator('script[type$="widget-view+json"]').count():
        page.wait_for_function("globalThis.firstDrawn")
        drawn = page.evaluate("firstDrawn")
    page.wait_for_load_state("networkidle")
    first = set(asked)
    page.evaluate("document.querySelectorAll('img').forEach((i) => { i.loading = 'eager'; })")
    page.wait_for_function("[...document.images].every((i) => i.complete)")
    context.close()
    return Visit(first, asked, drawn)


def file_of(url: str) -> Path:
    return BOOK / unquote(urlsplit(url).path).lstrip("/")


def measure(browser: Browser, home: str, page: str) -> dict[str, object]:
    visits = [visit(browser, f"{home}/{page}") for _ in range(VISITS)]
    files = visits[0].first
    kinds = dict.fromkeys(KINDS, 0)
    for file in files:
        kinds[kind_of(file)] += sent_bytes(file)
    times = [visit.drawn for visit in visits if visit.drawn is not None]
    return {
        "page": page,
        "bytes": sum(kinds.values()),
        "files": len(files),
        "by kind": kinds,
        "bytes to the end": sum(map(sent_bytes, visits[0].to_the_end)),
        DRAWN[0]: round(statistics.median(times)) if times else None,
        DRAWN[1]: round(min(times)) if times else None,
    }


def table(figures: Figures) -> str:
    """The figures in Markdown."""
    rows = figures["pages"]
    sizes = sorted(row["bytes"] / 1000 for row in rows)
    drawn = [row[DRAWN[0]] for row in rows if row[DRAWN[0]]]
    lines = [
        "# What a page weighs",
        "",
        "Kilobytes (1,000 bytes) of a first visit. Column *explorer*: milliseconds by the clock "
        "until the first explorer is drawn, the median and the quickest of "
        f"{VISITS} visits, at a load of {figures['load']} on this machine. Aims: at most {AIM_KB} "
        f"kB for a page with maths and sliders, its explorer within {AIM_MS} ms; a stock page "
        "weighs 849, plus 265 for MathJax and 1,130 for the widget manager.",
        "",
        f"![A bar for each of {len(rows)} pages, divided by kind of file: the shortest stands for "
        f"{sizes[0]:.0f} kB, the longest for {sizes[-1]:.0f}; a dotted line at the aim, "
        f"{AIM_KB} kB](pages.svg)",
        "",
        f"{sum(size <= AIM_KB for size in sizes)} of {len(sizes)} pages are left of the dotted "
        f"line, the aim. {sum(ms <= AIM_MS for ms in drawn)} of {len(drawn)} first explorers are "
        f"drawn within {AIM_MS} ms at the median.",
        "",
        "| page | all | page | style | script | fonts | images | explorer, ms | with all figures |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        numbers = [row["bytes"], *row["by kind"].values()]
        cells = " | ".join(f"{n / 1000:.0f}" for n in numbers)
        first = " / ".join(str(row[key]) for key in DRAWN if row[key])
        whole = row["bytes to the end"] / 1000
        lines.append(f"| {row['page']} | {cells} | {first} | {whole:.0f} |")
    return "\n".join(lines) + "\n"


def draw(figures: Figures) -> None:
    """A bar for each page, from the kinds of its files."""
    rows = figures["pages"][::-1]  # the first on top
    names = [Path(row["page"]).stem for row in rows]
    figure, ax = new_figure(height=0.8 + 0.24 * len(rows))
    left = [0.0] * len(rows)
    for kind, colour in zip(KINDS, KIND_COLOURS, strict=True):
        widths = [row["by kind"][kind] / 1000 for row in rows]
        ax.barh(names, widths, left=left, label=kind, color=colour, edgecolor="white")
        left = [a + b for a, b in zip(left, widths, strict=True)]
    ax.axvline(AIM_KB, color=COLOURS["grey"], linestyle=":", linewidth=1)
    ax.legend(frameon=False, ncols=len(KINDS), loc="lower left", bbox_to_anchor=(-0.25, 1))
    ax.set(xlabel="kB on a first visit")
    ax.tick_params(axis="y", length=0)
    save_figure("pages", figure)


def main() -> None:
    if not (BOOK / "book" / "index.html").is_file():
        sys.exit("The book is not built: run make html first.")
    pages = sorted(p.relative_to(BOOK).as_posix() for p in BOOK.rglob("*.html"))
    with book_in_chromium() as (browser, home):
        figures = {
            "pages": [measure(browser, home, page) for page in pages if page != "index.html"]
        }
        keep("pages", browser, figures, table)
    draw(figures)


if __name__ == "__main__":
    main()
