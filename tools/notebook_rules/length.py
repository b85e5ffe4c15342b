"""How many minutes a chapter takes: its core, its exercises, and what stands behind them.

A translated chapter has the structure of the English one, which says which cells are its core, and
which are exercises; its words are counted where they stand.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from qkv.language import ENGLISH, gettext, using_language
from qkv.notebooks.widget_state import EXPLORER_ID, PLAYGROUND_ID, VIEW_MIME
from tools.notebook_rules.chapter import calls, is_folded, shows_widget, tags, tree
from tools.notebook_rules.prose import HTML_TAG, WORD, count_figures, count_words

REMEMBER, EXERCISES = "What to remember", "Exercises"
FURTHER, SOURCES = "Going further", "Sources and further reading"
WORDS_PER_MINUTE, LINES_PER_MINUTE = 80, 5
MINUTES_PER_EXPLORER, MINUTES_PER_PLAYGROUND, MINUTES_PER_FIGURE = 2, 4, 0.5
WEIGHT_OF_A_WORD = {"ko": 1.3}  # a Korean word between spaces holds a particle or an ending too
# The line at the top, in any language: *Read: 33 minutes. Exercises: 24. Going further: 38.*
READING_TIMES = re.compile(r"^\*(?:[^*\d\n]+\d+){3}[^*\d\n]*\*", re.MULTILINE)
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
        language: of the words.
    """

    words: int = 0
    folded_words: int = 0
    printed_words: int = 0
    lines: int = 0
    explorers: int = 0
    playgrounds: int = 0
    figures: int = 0
    exercises: dict[str, int | None] = field(default_factory=dict)
    language: str = ENGLISH

    @property
    def minutes(self) -> float:
        words = self.words + self.folded_words + self.printed_words
        return (
            words * WEIGHT_OF_A_WORD.get(self.language, 1.0) / WORDS_PER_MINUTE
            + self.lines / LINES_PER_MINUTE
            + self.explorers * MINUTES_PER_EXPLORER
            + self.playgrounds * MINUTES_PER_PLAYGROUND
            + self.figures * MINUTES_PER_FIGURE
        )

    @property
    def exercise_minutes(self) -> int:
        return sum(stated or 0 for stated in self.exercises.values())


def sections(notebook: Any) -> Iterator[tuple[str, Any]]:
    """Each cell with the heading of level 2 above it, or at its beginning."""
    title = ""
    for cell in notebook.cells:
        title = next(reversed(list(headings(cell, 2))), title)
        yield title, cell


def headings(cell: Any, level: int) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield from re.findall(rf"^{'#' * level} +(.+?) *$", cell.source, re.MULTILINE)


def core_cells(notebook: Any) -> list[Any]:
    """The cells before *Going further*."""
    found = []
    for title, cell in sections(notebook):
        if title in (FURTHER, SOURCES):
            break
        found.append(cell)
    return found


def core_length(notebook: Any, translated: Any = None, language: str = ENGLISH) -> Length:
    return measure(notebook, core_cells(notebook), translated, language)


def further_length(notebook: Any, translated: Any = None, language: str = ENGLISH) -> Length:
    cells = [cell for title, cell in sections(notebook) if title == FURTHER]
    return measure(notebook, cells, translated, language)


def measure(notebook: Any, cells: Iterable[Any], translated: Any, language: str) -> Length:
    """The length of some cells of the English notebook, or of the same cells of another."""
    shown_cells = {cell.id: cell for cell in (translated or notebook).cells}
    words = folded_words = printed_words = lines = explorers = playgrounds = figures = 0
    exercises: dict[str, int | None] = {}
    exercise = False
    for cell in cells:
        for title in re.findall(r"^#{2,3} +(.+)", cell.source, re.MULTILINE):
            exercise = cell.cell_type == "markdown" and title.startswith("Exercise")
        shown_cell = shown_cells[cell.id]
        if exercise:
            for name, stated in EXERCISE.findall(cell.source):
                exercises[name] = int(stated) if stated else None
        elif cell.cell_type == "markdown":
            words += count_words(READING_TIMES.sub("", shown_cell.source))
            folded_words += count_words(shown_cell.source, folded=True)
            figures += count_figures(shown_cell.source)
        else:
            explorers += shows_widget(notebook, cell, EXPLORER_ID)
            playgrounds += shows_widget(notebook, cell, PLAYGROUND_ID)
            lines += 0 if is_folded(cell) else count_lines(shown_cell.source)
            shown = [] if "hide-cell" in tags(cell) else list(shown_texts(shown_cell))
            if prints_source(cell):
                lines += sum(map(count_lines, shown))
            else:
                printed_words += sum(len(WORD.findall(text)) for text in shown)
            figures += "hide-cell" not in tags(cell) and shows_picture(shown_cell)
    return Length(
        words,
        folded_words,
        printed_words,
        lines,
        explorers,
        playgrounds,
        figures,
        exercises,
        language,
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


def reading_minutes(
    notebook: Any, translated: Any = None, language: str = ENGLISH
) -> tuple[int, int, int]:
    """What the core takes to read, what its exercises take, and what *Going further* does."""
    core = core_length(notebook, translated, language)
    further = further_length(notebook, translated, language)
    return rounded(core.minutes), core.exercise_minutes, rounded(further.minutes)


def rounded(minutes: float) -> int:
    return math.floor(minutes + 0.5)


def reading_times(notebook: Any, translated: Any = None, language: str = ENGLISH) -> str:
    """The line that stands at the top of the chapter in a language."""
    read, exercises, further = reading_minutes(notebook, translated, language)
    with using_language(language):
        line = gettext("*Read: {read} minutes. Exercises: {exercises}. Going further: {further}.*")
    return line.format(read=read, exercises=exercises, further=further)
