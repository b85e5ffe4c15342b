"""Build the book into _build/html, warnings as errors. The old one stays until the new is whole.

Its editions in other languages stand in folders of it, such as _build/html/ko.

python tools/build_book.py            what has changed since the book there was built
python tools/build_book.py --always   all of it, in any case
QKV_SOLUTIONS=0 ...                   without solutions: tools/without_solutions.py

After an edit of chapters or of the prose around them Sphinx reads those pages again and keeps the
others; after one of a translation, those of that edition alone. After an edit of anything else,
such as `src` or a style sheet, it reads them all.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from qkv.language import ENGLISH
from tools.join_editions import join_editions
from tools.translations.edition import copy_translated, editions
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
# Of one page in one other language: its catalogue, and a chapter's notebook.
TRANSLATED = ("book/locale/*/{page}.po", "chapters/*/{page}.ipynb")
# All that the build reads, and more: an edit too many costs seconds, one too few shows an old book.
INPUTS = (
    *("_config.yml", "_toc.yml", "book", "chapters", "src", "benchmarks/results", "node_modules"),
    *("package.json", "pyproject.toml", "requirements.txt", "CHANGELOG.md"),
    *("tools/build_book.py", "tools/editions.py", "tools/join_editions.py", "tools/translations"),
    "tools/without_solutions.py",
)


def build(book: Path = BOOK, part: Path = PART, always: bool = True) -> int:
    """Build every edition aside, side by side, and move the book into place; the exit status."""
    inputs, stamp, state = read_inputs(ROOT), book.with_name("built.json"), book.with_name("sphinx")
    before = None if always else inputs_of(book, stamp)
    if before == inputs:
        print("Nothing has changed since the book was built.")
        return 0
    shutil.rmtree(part, ignore_errors=True)  # what an interrupted build left
    languages = (ENGLISH, *(one for one in editions() if (ROOT / "book" / "locale" / one).is_dir()))
    sources = lay_out(ROOT, languages, part)
    keeps = wanted() and before and before["other"] == inputs["other"]
    commands = {}
    for language, source in sources.items():
        old, folder = state / language, part / language
        options = ["-q", "-W", "-n", "--keep-going", "--path-output", str(folder)]
        if before and keeps and (old / "html").is_dir():
            shutil.copytree(old, folder / "_build")
            if of_edition(before["pages"], language) == of_edition(inputs["pages"], language):
                continue
            # What is no page is made anew: a checksum of an old file would stand in new pages.
            shutil.rmtree(folder / "_build" / "html" / "_static", ignore_errors=True)
        else:
            keeps = False
            options.insert(0, "--all")
        command = [sys.executable, "-P", "-c", JUPYTER_BOOK, "build", ".", *options]
        commands[language] = (command, source, {"QKV_ENGLISH_SOURCES": str(sources[ENGLISH])})
    what = "the pages that have changed" if keeps else "the book"
    print(f"Building {what} ...", flush=True)
    if status := run_side_by_side(commands.values()):
        return status
    join_editions({one: part / one / "_build" / "html" for one in languages}, part / "html")
    stamp.unlink(missing_ok=True)
    for place in (book, state):
        shutil.rmtree(place, ignore_errors=True)
    (part / "html").replace(book)
    state.mkdir()
    for one in languages:
        (part / one / "_build").replace(state / one)
    shutil.rmtree(part)
    record = {"inputs": inputs, "book": digest(book, contents(book))}
    stamp.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return 0


def lay_out(root: Path, languages: Iterable[str], part: Path) -> dict[str, Path]:
    """The sources of each edition: those of the book itself, or a copy in a folder of `part`."""
    english = root if wanted() else copy_without_solutions(root, part / "source")
    sources = {ENGLISH: english}
    for language in languages:
        if language != ENGLISH:
            sources[language] = copy_translated(english, language, part / f"source-{language}")
            # Sphinx reads a page again whose file is newer than its last reading, which a copy
            # always is; incremental_build.py asks what stands in it.
            for file in sources[language].rglob("*"):
                if file.is_file():
                    os.utime(file, (0, 0), follow_symlinks=False)
    return sources


def run_side_by_side(commands: Iterable[tuple[list[str], Path, dict[str, str]]]) -> int:
    """Run commands at the same time, each in its folder and with variables of its own.

    Returns the first exit status that is not 0.

    Warnings and errors come on stderr; the closing lines on stdout name the folders aside.
    """
    running: list[subprocess.Popen[bytes]] = []
    try:
        for command, folder, own in commands:
            environment = os.environ | own
            running.append(
                subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
            )
        return next(filter(None, [process.wait() for process in running]), 0)
    finally:
        for process in running:
            if process.poll() is None:
                process.terminate()
                process.wait()


def of_edition(pages: dict[str, str], language: str) -> dict[str, str]:
    """Those of the pages' files that an edition is made of: the English ones and its own."""
    own = (f"book/locale/{language}/", f"chapters/{language}/")
    return {
        name: found
        for name, found in pages.items()
        if name.startswith(own) or not re.match(r"book/locale/|chapters/.*/", name)
    }


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
    stems = [page.stem for page in pages]
    patterns = [pattern.format(page=stem) for pattern in TRANSLATED for stem in stems]
    pages += sorted(file for pattern in patterns for file in root.glob(pattern))
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
