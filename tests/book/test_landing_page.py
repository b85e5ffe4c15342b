"""The landing page: the time that the book takes is the sum of what its chapters say."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book" / "index.md").read_text("utf-8")
AFTERNOON = {3, 5, 6, 9, 10, 12}


def core_minutes() -> dict[int, int]:
    """The minutes of every chapter's core, by the chapter's number, as its first cell says."""
    found = {}
    for path in (ROOT / "chapters").glob("*.ipynb"):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        text = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        found[int(path.name[:2])] = int(re.search(r"\*Core: (\d+) minutes\.", text)[1])
    return found


def spoken(minutes: int) -> str:
    return f"{minutes // 60} h {minutes % 60} min"


@pytest.mark.parametrize(
    ("chapters", "hours"), [(None, 12), (AFTERNOON, 4)], ids=["all", "afternoon"]
)
def test_the_hours_of_the_cores_stand_at_the_top(chapters, hours):
    minutes = core_minutes()
    total = sum(minutes[n] for n in chapters or minutes)
    assert total <= hours * 60
    assert spoken(total) in PAGE.partition("\n## ")[0]
