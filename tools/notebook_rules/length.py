"""How many minutes a chapter takes: its core, its exercises, and what stands behind them."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from qkv.notebooks.widget_state import EXPLORER_ID, PLAYGROUND_ID, VIEW_MIME
from tools.notebook_rules.chapter import Chapter, calls, is_folded, shows_widget, tags, tree
from tools.notebook_rules.prose import HTML_TAG, WORD, count_figures, count_words

REMEMBER, EXERCISES = "What to remember", "Exercises"
FURTHER, SOURCES = "Going further", "Sources and further reading"
WORDS_PER_MINUTE, LINES_PER_MINUTE = 80, 5
MINUTES_PER_EXPLORER, MINUTES_PER_PLAYGROUND, MINUTES_PER_FIGURE = 2, 4, 0.5
READING_TIMES = re.compile(r"\*Read: \d+ minutes\. Exercises: \d+\. Going further: \d+\.\*")
EXERCISE = re.compile(r"^### Exercise (\S+).*$(?:\s+\*About (\d+) minutes?\.\*$)?", re.MULTILINE)


@dataclass(frozen=True)
class Length:
    """How much there is to read, exercises apart.

    Args:
        words: in sight.
        folded_words: behind *Guess, then open*.
        printed_words: in the outputs that are shown at first.
        lines: of code in sight, and of source that a cell prints.
        exercises: the minutes that each states.
    """

    words: int = 0
    folded_words: int = 0
    printed_words: int = 0
    lines: int = 0
    explorers: int = 0
    playgrounds: int = 0
    figures: int = 0
    exercises: dict[str, int | None] = field(default_factory=dict)

    @property
    def minutes(self) -> float:
        return (
            (self.words + self.folded_words + self.printed_words) / WORDS_PER_MINUTE
            + self.lines / LINES_PER_MINUTE
            + self.explorers * MINUTES_PER_EXPLORER
            + self.playgrounds * MINUTES_PER_PLAYGROUND
            + self.figures * MINUTES_PER_FIGURE
        )

    @property
    def exercise_minutes(self) -> int:
        return sum(stated or 0 for stated in self.exercises.values())


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
    return measure(chapter, core_cells(chapter))


def further_length(chapter: Chapter) -> Length:
    return measure(chapter, [cell for title, cell in sections(chapter) if title == FURTHER])


def measure(chapter: Chapter, cells: Iterable[Any]) -> Length:
    words = folded_words = printed_words = lines = explorers = playgrounds = figures = 0
    exercises: dict[str, int | None] = {}
    exercise = False
    for cell in cells:
        for title in re.findall(r"^#{2,3} +(.+)", cell.source, re.MULTILINE):
            exercise = cell.cell_type == "markdown" and title.startswith("Exercise")
        if exercise:
            for name, stated in EXERCISE.findall(cell.source):
                exercises[name] = int(stated) if stated else None
        elif cell.cell_type == "markdown":
            words += count_words(READING_TIMES.sub("", cell.source))
            folded_words += count_words(cell.source, folded=True)
            figures += count_figures(cell.source)
        else:
            explorers += shows_widget(chapter, cell, EXPLORER_ID)
            playgrounds += shows_widget(chapter, cell, PLAYGROUND_ID)
            lines += 0 if is_folded(cell) else count_lines(cell.source)
            shown = [] if "hide-cell" in tags(cell) else list(shown_texts(cell))
            if prints_source(cell):
                lines += sum(map(count_lines, shown))
            else:
                printed_words += sum(len(WORD.findall(text)) for text in shown)
            figures += "hide-cell" not in tags(cell) and shows_picture(cell)
    return Length(
        words, folded_words, printed_words, lines, explorers, playgrounds, figures, exercises
    )


def shown_texts(cell: Any) -> Iterator[str]:
    """The words of the cell's outputs, as the page shows them."""
    for output in cell.outputs:
        data = output.get("data", {})
        if output.output_type == "stream" and output.name == "stdout":
            yield output.text
        elif "text/html" in data:
            yield HTML_TAG.sub(" ", data["text/html"])
        elif not {VIEW_MIME, "image/png"} & set(data):
            yield data.get("text/plain", "")


def shows_picture(cell: Any) -> bool:
    return any("image/png" in output.get("data", {}) for output in cell.outputs)


def prints_source(cell: Any) -> bool:
    """Whether what the cell prints is the source of a function."""
    return any(name.endswith("getsource") for name in calls(cell))


def count_lines(source: str) -> int:
    return sum(1 for line in source.splitlines() if line.strip())


def visible_asserts(cells: Iterable[Any]) -> int:
    """The `assert` statements that a reader sees."""
    return sum(
        isinstance(node, ast.Assert)
        for cell in cells
        if cell.cell_type == "code" and not is_folded(cell)
        for node in ast.walk(tree(cell))
    )


def reading_minutes(chapter: Chapter) -> tuple[int, int, int]:
    """What the core takes to read, what its exercises take, and what *Going further* does."""
    core, further = core_length(chapter), further_length(chapter)
    return rounded(core.minutes), core.exercise_minutes, rounded(further.minutes)


def rounded(minutes: float) -> int:
    return math.floor(minutes + 0.5)


def reading_times(chapter: Chapter) -> str:
    """The line that stands at the top of the chapter."""
    read, exercises, further = reading_minutes(chapter)
    return f"*Read: {read} minutes. Exercises: {exercises}. Going further: {further}.*"
