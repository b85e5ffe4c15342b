"""Build the book into _build/html, warnings as errors. The old one stays until the new is whole.

python tools/build_book.py            what has changed since the book there was built
python tools/build_book.py --always   all of it, in any case
QKV_SOLUTIONS=0 ...                   without solutions: tools/without_solutions.py

After an edit of chapters or of the prose around them Sphinx reads those pages again and keeps the
others. After an edit of anything else, such as `src` or a style sheet, it reads them all.
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
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.without_solutions import copy_without_solutions, wanted

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "_build" / "html"
PART = ROOT / "_build" / "part"
# jsonschema takes a second to import a package of grammars, if it is there, for addresses in other
# scripts than Latin. The book's settings hold none.
JUPYTER_BOOK = """
import sys
sys.modules["rfc3987_syntax"] = None
from jupyter_book.cli.main import main
main()
"""
PAGES = ("chapters/*.ipynb", "book/*.md")
# All that the build reads, and more: an edit too many costs seconds, one too few shows an old book.
INPUTS = (
    *("_config.yml", "_toc.yml", "book", "chapters", "src", "benchmarks/results", "node_modules"),
    *("package.json", "pyproject.toml", "requirements.txt", "CHANGELOG.md"),
    *("tools/build_book.py", "tools/without_solutions.py"),
)


def build(book: Path = BOOK, part: Path = PART, always: bool = True) -> int:
    """Build aside and move into place; the exit status of the build."""
    inputs, stamp, state = read_inputs(ROOT), book.with_name("built.json"), book.with_name("sphinx")
    before = None if always else inputs_of(book, stamp)
    if before == inputs:
        print("Nothing has changed since the book was built.")
        return 0
    shutil.rmtree(part, ignore_errors=True)  # what an interrupted build left
    source = ROOT if wanted() else copy_without_solutions(ROOT, part / "source")
    options = ["-q", "-W", "-n", "--keep-going", "--path-output", str(part)]
    if source == ROOT and before and before["other"] == inputs["other"] and state.is_dir():
        print("Building the pages that have changed ...", flush=True)
        shutil.copytree(state, part / "_build")
        # Without what is no page: a checksum of an old file would stand in the new pages.
        shutil.copytree(book, part / "_build" / "html", ignore=shutil.ignore_patterns("_static"))
    else:
        print("Building the book ...", flush=True)
        options.insert(0, "--all")
    command = [sys.executable, "-P", "-c", JUPYTER_BOOK, "build", ".", *options]
    # Warnings and errors come on stderr; its closing lines name the folder aside.
    if status := subprocess.call(command, cwd=source, stdout=subprocess.DEVNULL):
        return status
    stamp.unlink(missing_ok=True)
    for made, place in (("html", book), ("", state)):  # the book, and what is left around it
        shutil.rmtree(place, ignore_errors=True)
        (part / "_build" / made).replace(place)
    shutil.rmtree(part)
    record = {"inputs": inputs, "book": digest(book, contents(book))}
    stamp.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return 0


def inputs_of(book: Path, stamp: Path) -> dict[str, Any] | None:
    """What gave the book that stands there; None if that is unknown, or somebody touched it."""
    try:
        record = json.loads(stamp.read_text(encoding="utf-8"))
        intact = record["book"] == digest(book, contents(book))
        return dict(record["inputs"]) if intact else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_inputs(root: Path) -> dict[str, Any]:
    """Fingerprints of each page, and of all else that the build reads: files, this Python, its
    packages. Which pages there are stands in the second."""
    installed = sorted(f"{dist.name} {dist.version}" for dist in metadata.distributions())
    settings = sorted(item for item in os.environ.items() if item[0].startswith("QKV_"))
    pages = sorted(page for pattern in PAGES for page in root.glob(pattern))
    names = [page.relative_to(root).as_posix() for page in pages]
    others = (f for name in INPUTS for f in contents(root / name) if f not in set(pages))
    more = repr((sys.version, installed, settings, names))
    digests = {name: digest(root, iter([page])) for name, page in zip(names, pages, strict=True)}
    return {"pages": digests, "other": digest(root, others, more)}


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
        has_solutions = wanted()
        status = build(always=options.always)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nInterrupted; the book is as it was.", file=sys.stderr)
        return 130
    outcome = "The book is in {}." if not status else "The build failed; {} is as it was."
    print(outcome.format(BOOK.relative_to(ROOT)), file=sys.stderr if status else sys.stdout)
    if not status and not has_solutions:
        print("It has no solutions and no verdicts; `make html` builds the ordinary one.")
    return status


if __name__ == "__main__":
    sys.exit(main())
