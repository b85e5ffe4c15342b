"""How long a chapter is: its sections, the words, lines and minutes of its core and of the rest."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tools.notebook_rules.chapter import Chapter, exercises_checked, is_folded, shows_explorer, tags
from tools.notebook_rules.prose import count_words

EXERCISES, REMEMBER = "Exercises", "What to remember"
FURTHER, SOURCES = "Going further", "Sources and further reading"
WORDS_PER_MINUTE, LINES_PER_MINUTE = 130, 8
MINUTES_PER_EXERCISE, MINUTES_PER_EXPLORER = 2.5, 2
READING_TIMES = re.compile(r"\*Core: \d+ minutes\. Going further: \d+\.\*")


@dataclass(frozen=True)
class Length:
    """How much there is to read and to do. What stands under *Exercises* counts as exercises."""

    words: int = 0
    folded_words: int = 0
    lines: int = 0
    exercises: int = 0
    explorers: int = 0

    @property
    def minutes(self) -> float:
        return (
            self.words / WORDS_PER_MINUTE
            + self.lines / LINES_PER_MINUTE
            + self.exercises * MINUTES_PER_EXERCISE
            + self.explorers * MINUTES_PER_EXPLORER
        )

    @property
    def rounded_minutes(self) -> int:
        return math.floor(self.minutes + 0.5)


def sections(chapter: Chapter) -> Iterator[tuple[str, Any]]:
    """Each cell with the heading of level 2 above it, or at its beginning."""
    title = ""
    for cell in chapter.notebook.cells:
        title = next(reversed(list(headings(cell, 2))), title)
        yield title, cell


def headings(cell: Any, level: int) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield from re.findall(rf"^{'#' * level} +(.+?) *$", cell.source, re.MULTILINE)


def core_cells(chapter: Chapter) -> list[Any]:
    """The cells before *Going further*."""
    found = []
    for title, cell in sections(chapter):
        if title in (FURTHER, SOURCES):
            break
        found.append(cell)
    return found


def core_length(chapter: Chapter) -> Length:
    core = {cell.id for cell in core_cells(chapter)}
    return measure(chapter, [pair for pair in sections(chapter) if pair[1].id in core])


def further_length(chapter: Chapter) -> Length:
    return measure(chapter, [pair for pair in sections(chapter) if pair[0] == FURTHER])


def measure(chapter: Chapter, cells: Iterable[tuple[str, Any]]) -> Length:
    words = folded_words = lines = exercises = explorers = 0
    for title, cell in cells:
        if cell.cell_type == "code":
            explorers += shows_explorer(chapter, cell)
            asks = exercises_checked(cell) if "solution" not in tags(cell) else []
            exercises += len(asks)
            if title != EXERCISES and not asks and not is_folded(cell):
                lines += count_lines(cell.source)
        elif title != EXERCISES:
            words += count_words(cell.source)
            folded_words += count_words(cell.source, folded=True)
        caption = cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", "")
        words += count_words(caption)
    return Length(words, folded_words, lines, exercises, explorers)


def count_lines(source: str) -> int:
    return sum(1 for line in source.splitlines() if line.strip())


def reading_minutes(chapter: Chapter) -> tuple[int, int]:
    """What the core and *Going further* take."""
    return core_length(chapter).rounded_minutes, further_length(chapter).rounded_minutes


def reading_times(chapter: Chapter) -> str:
    """The line that stands at the top of the chapter."""
    core, further = reading_minutes(chapter)
    return f"*Core: {core} minutes. Going further: {further}.*"
