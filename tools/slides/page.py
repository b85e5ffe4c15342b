"""A chapter's core, cell by cell: what the built page shows of it, what the notebook says of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Comment, Tag

from qkv.notebooks.exercise_cells import exercises_of, start_of_exercises
from qkv.notebooks.widget_state import views_of

SHOW_PROSE = "show-prose"
DEFAULT = {"markdown": "notes", "code": "skip"}
TYPES = ("slide", "subslide", "fragment", "skip", "notes", "-")


class SlideError(Exception):
    """A deck that cannot be cut, as a message for the author."""


@dataclass
class Cell:
    """One cell of the core.

    Args:
        kind: "markdown" or "code".
        slide_type: of the notebook's `slideshow` metadata, or what holds without any.
        show_prose: whether its paragraphs stand on the slide, too.
        explorers: the ids of the widgets that it shows.
        blocks: the elements that the page shows of it.
    """

    id: str
    kind: str
    slide_type: str
    show_prose: bool = False
    explorers: list[str] = field(default_factory=list)
    blocks: list[Tag] = field(default_factory=list)


@dataclass
class Chapter:
    """A chapter to be cut into slides; `exercises` are (heading of the page, minutes)."""

    name: str
    notebook: dict[str, Any]
    cells: list[Cell]
    exercises: list[tuple[Tag, int]]


def read_chapter(notebook_file: Path, page: Path) -> Chapter:
    """The core of a chapter, from its notebook and the page that was built of it."""
    name = notebook_file.stem
    notebook = json.loads(notebook_file.read_text(encoding="utf-8"))
    if not page.is_file():
        raise SlideError(f"{name}: there is no page of it at {page}: run `make html` first")
    shown: dict[str, list[Tag]] = {}
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    for cell_id, block in page_blocks(soup):
        shown.setdefault(cell_id, []).append(block)
    cells: list[Cell] = []
    for stored in notebook["cells"][: start_of_exercises(notebook["cells"])]:
        cells.append(read_cell(name, stored, shown))
    exercises = [
        (heading, exercise.minutes)
        for exercise in exercises_of(notebook["cells"])
        if not exercise.further
        for heading in shown.get(notebook["cells"][exercise.question.start]["id"], [])
        if heading.name == "h3"
    ]
    return Chapter(name, notebook, cells, exercises)


def read_cell(chapter: str, stored: dict[str, Any], shown: dict[str, list[Tag]]) -> Cell:
    kind = stored["cell_type"]
    metadata = stored["metadata"]
    slide_type = metadata.get("slideshow", {}).get("slide_type", DEFAULT[kind])
    if slide_type not in TYPES:
        known = ", ".join(map(repr, TYPES))
        message = f"{chapter}: cell {stored['id']} has the slide type {slide_type!r}: take {known}"
        raise SlideError(message)
    if stored["id"] not in shown and slide_type not in ("skip", "notes"):
        message = f"{chapter}: the page has no cell {stored['id']}: run `make html` first"
        raise SlideError(message)
    return Cell(
        id=stored["id"],
        kind=kind,
        slide_type=slide_type,
        show_prose=SHOW_PROSE in metadata.get("tags", []),
        explorers=[view["model_id"] for view in views_of(stored)],
        blocks=shown.get(stored["id"], []),
    )


def page_blocks(soup: BeautifulSoup) -> Iterator[tuple[str, Tag]]:
    """(cell, block) of a built page in reading order; cell_anchors.py wrote where cells begin."""
    article = soup.select_one("article")
    current = ""

    def visit(parent: Tag) -> Iterator[tuple[str, Tag]]:
        nonlocal current
        for child in parent.children:
            if isinstance(child, Comment):
                if child.strip().startswith("cell "):
                    current = child.strip().removeprefix("cell ")
            elif isinstance(child, Tag):
                if child.name == "section":
                    yield from visit(child)
                elif "cell" in child.get_attribute_list("class"):
                    yield str(child["id"]), child
                elif "qkv-live-bar" not in child.get_attribute_list("class"):
                    yield current, child

    yield from visit(article) if article else ()
