"""Build the book into _build/html, warnings as errors. The old one stays until the new is whole."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "_build" / "html"
PART = ROOT / "_build" / "part"


def build(book: Path = BOOK, part: Path = PART) -> int:
    """Build aside and move into place; the exit status of the build."""
    shutil.rmtree(part, ignore_errors=True)  # what an interrupted build left
    program = str(Path(sys.executable).with_name("jupyter-book"))
    options = ["--all", "-q", "-W", "-n", "--keep-going", "--path-output", str(part)]
    print("Building the book ...", flush=True)
    # Warnings and errors come on stderr; its closing words name the folder aside.
    status = subprocess.call([program, "build", ".", *options], cwd=ROOT, stdout=subprocess.DEVNULL)
    if status:
        return status
    shutil.rmtree(book, ignore_errors=True)
    (part / "_build" / "html").replace(book)
    shutil.rmtree(part)
    return 0


def main() -> int:
    try:
        status = build()
    except KeyboardInterrupt:
        print("\nInterrupted; the book is as it was.", file=sys.stderr)
        return 130
    where = BOOK.relative_to(ROOT)
    said = f"The book is in {where}." if not status else f"The build failed; {where} is as it was."
    print(said, file=sys.stderr if status else sys.stdout)
    return status


if __name__ == "__main__":
    sys.exit(main())
