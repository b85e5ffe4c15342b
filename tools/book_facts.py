"""The facts of the book that several files show, written from the notebooks: `make facts`.

    python tools/book_facts.py           titles, minutes, exercises, wherever they stand
    python tools/book_facts.py --check   say which files are stale, write nothing

The rule of tools/notebook_rules/length.py gives the minutes. They are stored at the top of each
chapter and in src/qkv/explore/chapters.json, which the map in chapter 1, the first page of the book
and its sidebar read; the README has the titles. If the map changes, chapter 1 is run again.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from qkv.files import atomic_write
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

FACTS = ROOT / "src" / "qkv" / "explore" / "chapters.json"
README = ROOT / "README.md"
LIST = re.compile(r"(?<=<!-- chapters: written by make facts -->\n).*?(?=\n<!-- -->)", re.DOTALL)


def title(chapter: Chapter) -> str:
    """Its first heading."""
    found = (line for cell in chapter.notebook.cells for line in headings(cell, 1))
    return next(found, chapter.concept)


def with_times(chapter: Chapter) -> str:
    """The chapter's file with the minutes of today at its top."""
    expected = reading_times(chapter)
    first = next(cell for cell in chapter.notebook.cells if cell.cell_type == "markdown")
    if expected in first.source:
        return chapter.text
    first.source = READING_TIMES.sub(expected, first.source, count=1)
    return normal_form(chapter.notebook)


def exercise_numbers(chapter: Chapter) -> tuple[list[int], list[int]]:
    """Of the exercises in the core, and of those under *Going further*, as they stand there."""
    core, further = (
        [int(name.removeprefix(f"{chapter.concept}-")) for name in length.exercises]
        for length in (core_length(chapter), further_length(chapter))
    )
    return core, further


def stored_facts(chapters: Sequence[Chapter]) -> str:
    """A line a chapter."""
    rows = [
        {
            "number": chapter.number,
            "concept": chapter.concept,
            "title": title(chapter),
            "minutes": reading_minutes(chapter),
            "exercises": exercise_numbers(chapter),
        }
        for chapter in chapters
    ]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"[\n{lines}\n]\n"


def with_list(readme: str, chapters: Sequence[Chapter]) -> str:
    """The README with the titles of today."""
    text = f"{len(chapters)} chapters: {'; '.join(map(title, chapters))}."
    lines = textwrap.fill(text, 112, break_long_words=False, break_on_hyphens=False)
    return LIST.sub(lambda _: lines, readme, count=1)


def stale_files() -> dict[Path, str]:
    """Each file that shows other facts than the notebooks, with the text that it should have."""
    paths = sorted((ROOT / "chapters").glob("[0-9][0-9]_*.ipynb"))
    chapters = [load_chapter(path) for path in paths]
    texts = {path: with_times(chapter) for path, chapter in zip(paths, chapters, strict=True)}
    texts[FACTS] = stored_facts(chapters)
    texts[README] = with_list(README.read_text("utf-8"), chapters)
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
        first = min((ROOT / "chapters").glob("01_*.ipynb"))
        print(f"{first.name}: running it, for its map ...", flush=True)
        try:
            refresh(first, repository_address(), write=True)
        except NotebookError as error:
            print(error, file=sys.stderr)
            return 1
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
