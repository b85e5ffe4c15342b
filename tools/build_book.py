"""Build the book into _build/html, warnings as errors. The old one stays until the new is whole.

python tools/build_book.py            unless the book there is what the same inputs gave
python tools/build_book.py --always   in any case
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "_build" / "html"
PART = ROOT / "_build" / "part"
# All that the build reads, and more: an edit too many costs seconds, one too few shows an old book.
INPUTS = (
    *("_config.yml", "_toc.yml", "book", "chapters", "src", "benchmarks/results", "node_modules"),
    *("package.json", "pyproject.toml", "requirements.txt", "tools/build_book.py"),
)


def build(book: Path = BOOK, part: Path = PART, always: bool = True) -> int:
    """Build aside and move into place; the exit status of the build."""
    inputs, stamp = inputs_digest(), book.with_name("built.json")
    if not always and is_built(book, stamp, inputs):
        print("Nothing has changed since the book was built.")
        return 0
    shutil.rmtree(part, ignore_errors=True)  # what an interrupted build left
    program = str(Path(sys.executable).with_name("jupyter-book"))
    options = ["--all", "-q", "-W", "-n", "--keep-going", "--path-output", str(part)]
    print("Building the book ...", flush=True)
    # Warnings and errors come on stderr; its closing lines name the folder aside.
    status = subprocess.call([program, "build", ".", *options], cwd=ROOT, stdout=subprocess.DEVNULL)
    if status:
        return status
    stamp.unlink(missing_ok=True)
    shutil.rmtree(book, ignore_errors=True)
    (part / "_build" / "html").replace(book)
    shutil.rmtree(part)
    record = {"inputs": inputs, "book": digest(book, contents(book))}
    stamp.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return 0


def is_built(book: Path, stamp: Path, inputs: str) -> bool:
    """Whether these inputs gave the book that stands there, and nobody touched it since."""
    try:
        record = json.loads(stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(record == {"inputs": inputs, "book": digest(book, contents(book))})


def inputs_digest(root: Path = ROOT) -> str:
    """A fingerprint of the files that the build reads, of this Python and of what it has."""
    installed = sorted(f"{dist.name} {dist.version}" for dist in metadata.distributions())
    settings = sorted(item for item in os.environ.items() if item[0].startswith("QKV_"))
    files = (file for name in INPUTS for file in contents(root / name))
    return digest(root, files, repr((sys.version, installed, settings)))


def contents(place: Path) -> Iterator[Path]:
    """The files of a folder, without what tools keep there for themselves; or the file itself."""
    if place.is_file():
        yield place
    for file in sorted(place.rglob("*")):
        inside = file.relative_to(place).parts
        ignored = any(part == "__pycache__" or part.startswith(".") for part in inside)
        if not ignored and file.is_file():
            yield file


def digest(root: Path, files: Iterator[Path], more: str = "") -> str:
    total = hashlib.sha256(more.encode())
    for file in files:
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        total.update(f"{file.relative_to(root)}\n{content}\n".encode())
    return total.hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--always", action="store_true", help="build though nothing has changed")
    options = parser.parse_args()
    try:
        status = build(always=options.always)
    except KeyboardInterrupt:
        print("\nInterrupted; the book is as it was.", file=sys.stderr)
        return 130
    outcome = "The book is in {}." if not status else "The build failed; {} is as it was."
    print(outcome.format(BOOK.relative_to(ROOT)), file=sys.stderr if status else sys.stdout)
    return status


if __name__ == "__main__":
    sys.exit(main())
