"""How fast the trained model answers in a page, and what a page loads for it.

    python benchmarks/page_model.py

On the built first chapter, in a fresh visit each time: from the reader's first touch until the
model is there, then until its first answer; after that 100 held-back sentences, greedy and with a
beam of 4. The NumPy room decodes the same ones, one at a time. Writes results/page_model.json and
results/page_model.md beside this file.
"""

# ruff: noqa: E402  (the number of threads has to be set before the imports that read it)
from __future__ import annotations

import os

for library in ("OPENBLAS", "OMP", "MKL", "VECLIB_MAXIMUM"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import statistics
import sys
import time
from pathlib import Path

from pages import BOOK, book_in_chromium, keep, sent_bytes
from playwright.sync_api import Browser
from results import Figures

from qkv.pretrained import pretrained

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.train_pretrained import held_back

VISITS, SENTENCES, BEAM = 7, 100, 4
SCRIPTS = ("engine.js", "parameters.js", "load_model.js", "playground.js")
AIMS = {
    "what the model needs, kB": 1200,
    "first answer after loading, ms": 300,
    "a token, greedy, ms": 10,
}
ASK = """async ([sentences, beamSize]) => {
  const now = () => performance.now();
  const begun = now();
  const translator = await qkvModel.load();
  const loaded = now();
  const start = (text) => translator.startDecoding(translator.encode(text));
  const greedy = (text) => [...translator.greedy(start(text))].length;
  greedy(sentences[0]);
  const answered = now();
  const tokens = sentences.map(greedy).reduce((a, b) => a + b);
  const written = now();
  for (const text of sentences) translator.beamSearch(start(text), { beamSize });
  const searched = now();
  return {
    "model loaded, ms": loaded - begun,
    "first answer after loading, ms": answered - loaded,
    "a token, greedy, ms": (written - answered) / tokens,
    "a sentence, beam of 4, ms": (searched - written) / sentences.length,
  };
}"""


def sentences() -> list[str]:
    pairs = held_back("combination")
    return [" ".join(pair.source) for pair in pairs[:: len(pairs) // SENTENCES][:SENTENCES]]


def visit(browser: Browser, url: str, texts: list[str]) -> dict[str, float]:
    """Milliseconds of one fresh visit, by the page's own clock."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(url)
    page.wait_for_load_state("networkidle")
    times: dict[str, float] = page.evaluate(ASK, [texts, BEAM])
    context.close()
    return times


def numpy_room(texts: list[str]) -> dict[str, float]:
    """The same two searches in Python, one sentence at a time."""
    translator = pretrained()
    translator.translate(texts[0])
    begun = time.perf_counter()
    words = [translator.translate(text) for text in texts]
    written = time.perf_counter()
    for text in texts:
        translator.translate(text, "beam", beam_size=BEAM)
    searched = time.perf_counter()
    tokens = sum(len(text.split()) + 1 for text in words)  # with <eos>
    return {
        "a token, greedy, ms": 1e3 * (written - begun) / tokens,
        "a sentence, beam of 4, ms": 1e3 * (searched - written) / len(texts),
    }


def measure(browser: Browser, url: str) -> Figures:
    texts = sentences()
    in_page, in_python = [], []
    for _ in range(VISITS):
        in_page.append(visit(browser, url, texts))
        in_python.append(numpy_room(texts))
    folders = {name: "model" if name != "playground.js" else "" for name in SCRIPTS}
    sizes = {name: sent_bytes(BOOK / "_static" / folders[name] / name) for name in SCRIPTS}
    return {"page": median(in_page), "numpy": median(in_python), "bytes": sizes}


def median(times: list[dict[str, float]]) -> dict[str, float]:
    return {key: round(statistics.median(t[key] for t in times), 3) for key in times[0]}


def table(figures: Figures) -> str:
    """The figures in Markdown."""
    sizes = figures["bytes"]
    model = sum(size for name, size in sizes.items() if name != "playground.js")
    rows = {"what the model needs, kB": (model / 1e3, None)}
    for name, value in figures["page"].items():
        rows[name] = (value, figures["numpy"].get(name))
    each = ", ".join(f"{name} {size / 1e3:.1f}" for name, size in sizes.items())
    lines = [
        "# The trained model in the page",
        "",
        f"Medians of {VISITS} fresh visits in Chromium, {SENTENCES} held-back sentences each; "
        "beside them the NumPy room on the same sentences, one at a time, of both the time is "
        "divided by the tokens written, encoding included. Compressed with gzip, in kB: "
        f"{each}; the model needs the first three. The load of the machine at the end was "
        f"{figures['load']}.",
        "",
        "| measured | in the page | NumPy | aim |",
        "|---|--:|--:|--:|",
    ]
    for name, (value, other) in rows.items():
        beside = "" if other is None else f"{other:.2f}"
        aim = f"≤ {AIMS[name]:,}" if name in AIMS else ""
        lines.append(f"| {name} | {value:,.2f} | {beside} | {aim} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    if not (BOOK / "chapters" / "01_start.html").is_file():
        sys.exit("The book is not built: run make html first.")
    with book_in_chromium() as (browser, home):
        figures = measure(browser, f"{home}/chapters/01_start.html")
        keep("page_model", browser, figures, table)


if __name__ == "__main__":
    main()
