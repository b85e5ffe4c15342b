"""The facts of the book that several files show, written from the notebooks: `make facts`.

    python tools/book_facts.py           titles, minutes, exercises, wherever they stand
    python tools/book_facts.py --check   say which files are stale, write nothing

The rule of tools/notebook_rules/length.py gives the minutes, for each language. They are stored at
the top of a chapter (`make translations` writes them into a translated one) and in
src/qkv/explore/chapters.json, which the map in chapter 1, the first page of the book and its
sidebar read; the README has the titles. If the map changes, chapter 1 is run again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from qkv.files import atomic_write
from qkv.language import ENGLISH, languages
from qkv.notebooks.stored_form import normal_form
from tools.colab import repository_address
from tools.notebook_rules.chapter import Chapter
from tools.notebook_rules.length import (
    READING_TIMES,
    core_length,
    further_length,
    headings,
    reading_minutes,
    reading_times,
)
from tools.notebook_rules.load import ROOT, load_chapter
from tools.run_notebooks import NotebookError, refresh
from tools.translations.readme import with_chapters

FACTS = ROOT / "src" / "qkv" / "explore" / "chapters.json"
README = ROOT / "README.md"


def title(chapter: Chapter) -> str:
    """Its first heading."""
    found = (line for cell in chapter.notebook.cells for line in headings(cell, 1))
    return next(found, chapter.concept)


def with_times(chapter: Chapter) -> str:
    """The chapter's file with the minutes of today at its top."""
    expected = reading_times(chapter.notebook)
    first = next(cell for cell in chapter.notebook.cells if cell.cell_type == "markdown")
    if expected in first.source:
        return chapter.text
    first.source = READING_TIMES.sub(expected, first.source, count=1)
    return normal_form(chapter.notebook)


def exercise_numbers(chapter: Chapter) -> tuple[list[int], list[int]]:
    """Of the exercises in the core, and of those under *Going further*, as they stand there."""
    core, further = (
        [int(name.removeprefix(f"{chapter.concept}-")) for name in length.exercises]
        for length in (core_length(chapter.notebook), further_length(chapter.notebook))
    )
    return core, further


def minutes_by_language(chapter: Chapter) -> dict[str, tuple[int, int, int]]:
    """To read the core, for its exercises, to read what stands behind, in each edition."""
    minutes = {ENGLISH: reading_minutes(chapter.notebook)}
    name = f"{chapter.number:02}_{chapter.concept}.ipynb"
    for language in languages():
        path = ROOT / "chapters" / language / name
        if path.exists():
            translated = nbformat.read(path, as_version=4)
            minutes[language] = reading_minutes(chapter.notebook, translated, language)
    return minutes


def stored_facts(chapters: Sequence[Chapter]) -> str:
    """A line a chapter."""
    rows = [
        {
            "number": chapter.number,
            "concept": chapter.concept,
            "title": title(chapter),
            "minutes": minutes_by_language(chapter),
            "exercises": exercise_numbers(chapter),
        }
        for chapter in chapters
    ]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"[\n{lines}\n]\n"


def stale_files() -> dict[Path, str]:
    """Each file that shows other facts than the notebooks, with the text that it should have."""
    paths = sorted((ROOT / "chapters").glob("[0-9][0-9]_*.ipynb"))
    chapters = [load_chapter(path) for path in paths]
    texts = {path: with_times(chapter) for path, chapter in zip(paths, chapters, strict=True)}
    texts[FACTS] = stored_facts(chapters)
    texts[README] = with_chapters(README.read_text("utf-8"), list(map(title, chapters)))
    return {path: text for path, text in texts.items() if path.read_text("utf-8") != text}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail on a stale file")
    check = parser.parse_args().check
    stale = stale_files()
    for path, text in stale.items():
        print(f"{path.relative_to(ROOT)}: {'stale: make facts' if check else 'written anew'}")
        if not check:
            atomic_write(path, text.encode())
    if FACTS in stale and not check:
        for first in sorted((ROOT / "chapters").rglob("01_*.ipynb")):
            print(f"{first.relative_to(ROOT)}: running it, for its map ...", flush=True)
            try:
                refresh(first, repository_address(), write=True)
            except NotebookError as error:
                print(error, file=sys.stderr)
                return 1
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
