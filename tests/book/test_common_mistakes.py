"""The page of common mistakes: every slip that a chapter puts right, with a link to its cell."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
PAGE = (ROOT / "book" / "common_mistakes.md").read_text("utf-8")
LINKED = set(re.findall(r"\]\(#([\w-]+)\)", PAGE))


def cells(chapter: Path) -> list[dict]:
    return [c for c in json.loads(chapter.read_text("utf-8"))["cells"] if c["cell_type"] == "code"]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_every_cell_that_puts_a_slip_right_is_linked(chapter: Path) -> None:
    tagged = {
        cell["id"]
        for cell in cells(chapter)
        if any(re.fullmatch(r"covers-\d+-S", tag) for tag in cell["metadata"].get("tags", []))
    }
    assert tagged <= LINKED, f"not on the page: {sorted(tagged - LINKED)}"


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_every_link_leads_to_a_cell_that_asserts(chapter: Path) -> None:
    linked = [cell for cell in cells(chapter) if cell["id"] in LINKED]
    assert linked
    for cell in linked:
        assert "assert" in "".join(cell["source"]), cell["id"]


def test_there_is_no_link_to_a_cell_that_is_not_there() -> None:
    there = {cell["id"] for chapter in CHAPTERS for cell in cells(chapter)}
    assert not LINKED - there
