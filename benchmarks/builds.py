"""How long the book's build takes: all of it, with nothing changed, with one edited chapter.

    python benchmarks/builds.py

In a copy of what the build reads. Each chapter in turn gets one more sentence, which is what a
writer does most often; and a new title, which every page shows. Writes results/builds.json and
results/builds.md beside this file.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from results import Figures, save_results

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.build_book import INPUTS  # noqa: E402

SENTENCE, TITLE = "\n\nOne more sentence, and this is it.", "A new title"
AIMS = {"nothing changed": 0.10, "a sentence": 0.25}
WHOLE = 2  # times


def copy_inputs(folder: Path) -> None:
    for name in INPUTS:
        source, copy = ROOT / name, folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy)
        else:
            shutil.copyfile(source, copy)


def build(folder: Path, *options: str) -> dict[str, float]:
    """Seconds of one build: of the processor, in all of its processes, and by the clock."""
    command = [sys.executable, "tools/build_book.py", *options]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    processor = sum(getattr(after, k) - getattr(before, k) for k in ("ru_utime", "ru_stime"))
    return {"processor": processor, "clock": wall}


def edit(chapter: Path, sentence: str = "", title: str = "") -> None:
    """Add a sentence to the first cell, or give the chapter another title."""
    notebook = json.loads(chapter.read_text("utf-8"))
    cell = next(cell for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    first, *others = "".join(cell["source"]).splitlines(keepends=True)
    cell["source"] = "".join([f"# {title}\n" if title else first, *others]) + sentence
    chapter.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


def median(times: list[dict[str, float]]) -> dict[str, float]:
    return {key: round(statistics.median(t[key] for t in times), 2) for key in times[0]}


def measure(folder: Path) -> Figures:
    copy_inputs(folder)
    whole = median([build(folder, "--always") for _ in range(WHOLE)])
    nothing = median([build(folder) for _ in range(5)])
    sentences = {}
    for chapter in sorted((folder / "chapters").glob("*.ipynb")):
        edit(chapter, sentence=SENTENCE)
        sentences[chapter.stem] = median([build(folder)])
    edit(folder / "chapters" / "05_masks.ipynb", title=TITLE)
    times = {
        "all of it": whole,
        "nothing changed": nothing,
        "a sentence": median(list(sentences.values())),
        "a title": build(folder),
    }
    return {"seconds": times, "sentences": sentences, "load": round(os.getloadavg()[1], 1)}


def table(figures: Figures) -> str:
    """The figures in Markdown."""
    times = figures["seconds"]
    whole = times["all of it"]["processor"]
    longest = max(t["processor"] for t in figures["sentences"].values())
    lines = [
        "# How long a build of the book takes",
        "",
        "Seconds; the share is one of processor time. *A sentence* is the median over edits of "
        f"each of {len(figures['sentences'])} chapters, the longest of which took {longest:.1f}; "
        "*a title* stands in the sidebar of every page, so all of them are written again. The "
        f"load of the machine at the end was {figures['load']}.",
        "",
        "| what has changed | processor | by the clock | share of the whole | aim |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, seconds in times.items():
        aim = f"{AIMS[name]:.2f}" if name in AIMS else ""
        share = seconds["processor"] / whole
        row = f"| {name} | {seconds['processor']:.2f} | {seconds['clock']:.2f} | {share:.2f} "
        lines.append(f"{row}| {aim} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder))
    text = table(figures)
    save_results("builds", text, figures)
    print(text, end="")


if __name__ == "__main__":
    main()
