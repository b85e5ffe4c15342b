"""Rules on the core: how long it may be, in what order, and that nothing in it leans on a fold."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tools.notebook_rules.chapter import Chapter, is_folded, shows_explorer, tree
from tools.notebook_rules.length import (
    EXERCISES,
    FURTHER,
    REMEMBER,
    SOURCES,
    core_cells,
    core_length,
    further_length,
    headings,
    reading_times,
    sections,
    visible_asserts,
)
from tools.notebook_rules.prose import texts
from tools.notebook_rules.teaching import WITHOUT_EXPLORER

sys.path.append(str(Path(__file__).resolve().parents[2] / "book" / "extensions"))

from glossary_forms import forms

WHAT_BREAKS = "What breaks"  # how that heading begins
MOST_MINUTES = {"transformer": 40, "training": 40, "decoding": 40, "backward": 40}  # else 35
MOST_EXERCISE_MINUTES, MOST_FURTHER_MINUTES, MOST_VISIBLE_ASSERTS = 30, 40, 2


def core_in_time(chapter: Chapter) -> Iterator[str]:
    """What there is to read and to do fits its minutes, and each exercise states its own."""
    core, further = core_length(chapter.notebook), further_length(chapter.notebook)
    for what, is_, most in (
        ("minutes to read", core.minutes, MOST_MINUTES.get(chapter.concept, 35)),
        ("minutes of exercises", core.exercise_minutes, MOST_EXERCISE_MINUTES),
        ("visible asserts", visible_asserts(core_cells(chapter.notebook)), MOST_VISIBLE_ASSERTS),
    ):
        if is_ > most:
            yield f"{chapter.concept}: the core has {is_:.5g} {what}, at most {most}"
    if further.minutes > MOST_FURTHER_MINUTES:
        yield (
            f"{chapter.concept}: {FURTHER} has {further.minutes:.5g} minutes to read, "
            f"at most {MOST_FURTHER_MINUTES}"
        )
    for name, stated in {**core.exercises, **further.exercises}.items():
        if stated is None:
            yield f"{chapter.concept}: expected '*About 5 minutes.*' below the heading of {name}"


def times_at_top(chapter: Chapter) -> Iterator[str]:
    first = next((c for c in chapter.notebook.cells if c.cell_type == "markdown"), None)
    expected = reading_times(chapter.notebook)
    if first is None or expected not in first.source:
        yield f"{first.id if first else chapter.concept}: expected the line {expected}: make facts"


def in_order(chapter: Chapter) -> Iterator[str]:
    """Explorer, what breaks, what to remember, exercises, going further, sources."""
    places: dict[str, int] = {}
    owes_explorer = chapter.concept not in WITHOUT_EXPLORER  # else it may stand behind the core
    for place, cell in enumerate(chapter.notebook.cells):
        if owes_explorer and cell.cell_type == "code" and shows_explorer(chapter.notebook, cell):
            places.setdefault("the first explorer", place)
        for title in headings(cell, 2):
            if not cell.source.startswith(f"## {title}"):
                yield f"{cell.id}: '## {title}' does not begin its cell"
            places.setdefault(WHAT_BREAKS if title.startswith(WHAT_BREAKS) else title, place)
    needed = [REMEMBER, EXERCISES, FURTHER, SOURCES]
    for title in needed:
        if title not in places:
            yield f"{chapter.concept}: no heading '## {title}'"
    order = ["the first explorer", WHAT_BREAKS, *needed]
    found = [name for name in order if name in places]
    for earlier, later in pairwise(found):
        if places[earlier] > places[later]:
            yield f"{chapter.concept}: '{earlier}' must come before '{later}'"


def further_asks(chapter: Chapter) -> Iterator[str]:
    """Each section behind the core has a question as its title, so that it can be skipped."""
    for title, cell in sections(chapter.notebook):
        if title == FURTHER:
            for heading in headings(cell, 3):
                if not (heading.endswith("?") or heading.startswith("Exercise ")):
                    yield f"{cell.id}: '{heading}' under {FURTHER} is no question"


def names_in_sight(chapter: Chapter) -> Iterator[str]:
    """What a visible cell of the core uses is bound in sight: a fold may keep only its imports."""
    seen: set[str] = set()
    folded: set[str] = set()
    for cell in core_cells(chapter.notebook):
        if cell.cell_type != "code":
            continue
        names = [node for node in ast.walk(tree(cell)) if isinstance(node, ast.Name)]
        if is_folded(cell):
            folded |= bound(tree(cell))
            continue
        seen |= bound(tree(cell)) | imported(tree(cell))
        for name in sorted({node.id for node in names} & folded - seen):
            yield f"{cell.id}: uses {name}, which only a folded cell binds"


def bound(module: ast.Module) -> set[str]:
    """The names that a cell binds other than by an import, its functions' locals included."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return found


def imported(module: ast.Module) -> set[str]:
    return {
        alias.asname or alias.name
        for node in ast.walk(module)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


def terms_introduced(chapter: Chapter) -> Iterator[str]:
    """A term of this chapter or a later one stands in bold where the core first uses it."""
    unknown = {term for term, number in chapter.terms.items() if number >= chapter.number}
    for cell in core_cells(chapter.notebook):
        if cell.cell_type != "markdown":
            continue
        runs = [text for text in texts(cell.source) if not text.heading]
        bold = " ".join(text.words for text in runs if text.bold)
        every = "".join(text.words for text in runs)
        for term in sorted(unknown):
            if mentions(bold, term):
                unknown.discard(term)
            elif mentions(every, term):
                yield f"{cell.id}: uses '{term}' before a cell has it in bold"
                unknown.discard(term)


def mentions(text: str, term: str) -> bool:
    words = "|".join(map(re.escape, forms(term))).replace(r"\ ", r"\s+")
    return re.search(rf"(?<![\w-])(?:{words})(?![\w-])", text, re.IGNORECASE) is not None
