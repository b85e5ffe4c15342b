"""How long the README's commands take, in a fresh clone of what is committed: set-up, cold, warm."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Making the inner targets alone is set-up, and nothing else, when it is there already.
STEPS = (
    ("set-up for readers", "reader"),
    ("html, cold", "html"),
    ("html, warm", "html"),
    ("set-up, second call", "reader"),
    ("set-up for tests", "tester"),
    ("test, cold", "test"),
    ("test, warm", "test"),
)


def seconds(folder: Path, target: str) -> str:
    """The wall time of one make target, and whether it failed."""
    start = time.perf_counter()
    status = subprocess.call(["make", target], cwd=folder, stdout=subprocess.DEVNULL)
    return f"{time.perf_counter() - start:.1f}" + (" (failed)" if status else "")


def main() -> None:
    print("| command | seconds |\n|---|---|")
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "clone"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
        for title, target in STEPS:
            print(f"| {title} | {seconds(folder, target)} |", flush=True)


if __name__ == "__main__":
    main()
