"""How long the README's commands take in a fresh clone of what is committed, cold and warm.

    python benchmarks/commands.py

The clone has its own environment, so this downloads what a new reader would. Writes
results/commands.json and results/commands.md beside this file.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from results import Figures, save_results

ROOT = Path(__file__).resolve().parent.parent
# `reader` and `tester` are the set-up alone.
STEPS = (
    ("set-up for readers", "reader"),
    ("`make html`, cold", "html"),
    ("`make html`, warm", "html"),
    ("set-up for tests", "tester"),
    ("`make test`, cold", "test"),
    ("`make test`, warm", "test"),
    ("set-up, when it is there", "tester"),
)


def measure(folder: Path, target: str) -> dict[str, object]:
    """The wall time of one make target in seconds, and whether it failed."""
    start = time.perf_counter()
    status = subprocess.call(["make", target], cwd=folder, stdout=subprocess.DEVNULL)
    return {"seconds": round(time.perf_counter() - start, 1), "failed": bool(status)}


def table(figures: Figures) -> str:
    """The figures in Markdown."""
    rows = [
        f"| {row['what']} | {row['seconds']:.1f}{' (failed)' if row['failed'] else ''} |"
        for row in figures["steps"]
    ]
    lines = ["# The two commands", "", "| command | seconds |", "|---|--:|", *rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    steps = []
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "clone"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
        for title, target in STEPS:
            steps.append({"what": title, **measure(folder, target)})
            print(steps[-1], flush=True)
    figures = {"steps": steps}
    save_results("commands", table(figures), figures)


if __name__ == "__main__":
    main()
