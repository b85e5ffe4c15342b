"""How long the README's commands take in a fresh clone of what is committed, cold and warm.

    python benchmarks/commands.py

Writes results/commands.md beside this file. The clone has its own environment, so this downloads
what a new reader would.
"""

from __future__ import annotations

import os
import platform
import subprocess
import tempfile
import time
from datetime import date
from pathlib import Path

from results import save_results

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


def seconds(folder: Path, target: str) -> str:
    """The wall time of one make target, and whether it failed."""
    start = time.perf_counter()
    status = subprocess.call(["make", target], cwd=folder, stdout=subprocess.DEVNULL)
    return f"{time.perf_counter() - start:.1f}" + (" (failed)" if status else "")


def main() -> None:
    lines = [
        "# The two commands",
        "",
        f"Python {platform.python_version()}, {os.cpu_count()} cores; {date.today().isoformat()}."
        " `python benchmarks/commands.py` measures again.",
        "",
        "| command | seconds |",
        "|---|--:|",
    ]
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "clone"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
        for title, target in STEPS:
            lines.append(f"| {title} | {seconds(folder, target)} |")
            print(lines[-1], flush=True)
    save_results("commands", "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
