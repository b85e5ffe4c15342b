"""The landing page: its times are the sums of what the chapters say at their top."""

import importlib
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from qkv.explore.start_map import BOOK, WAYS

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "extensions"))
book_facts = importlib.import_module("book_facts")

PAGE = (ROOT / "book" / "index.md").read_text("utf-8")


def minutes_at_the_top(part):
    """The minutes of every chapter's core, by its number, as its first cell says.

    Args:
        part: "Read" or "Exercises".
    """
    found = {}
    for path in (ROOT / "chapters").glob("*.ipynb"):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        text = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        found[int(path.name[:2])] = int(re.search(rf"\*.*{part}: (\d+)\b.*\*", text)[1])
    return found


@pytest.mark.parametrize(
    ("fact", "part", "numbers", "hours"),
    [
        ("time", "Read", [chapter.number for chapter in BOOK], 10.5),
        ("time of exercises", "Exercises", [chapter.number for chapter in BOOK], 9),
        ("time of an afternoon", "Read", WAYS["an afternoon"], 4),
    ],
    ids=["all", "exercises", "afternoon"],
)
def test_the_times_are_the_sums_of_what_the_chapters_say(fact, part, numbers, hours):
    minutes = minutes_at_the_top(part)
    total = sum(minutes[number] for number in numbers)
    assert total <= hours * 60
    assert book_facts.facts()[fact] == f"{total // 60} h {total % 60} min"
    assert f"{{{fact}}}" in PAGE.partition("\n## ")[0]


def test_the_shortest_and_the_longest_core_are_those_of_the_chapters():
    minutes = minutes_at_the_top("Read").values()
    assert book_facts.facts()["minutes of a core"] == f"{min(minutes)} to {max(minutes)} minutes"


def test_the_page_asks_for_facts_that_there_are():
    (content,) = re.findall(r"```{facts}\n(.*?)```", PAGE, re.DOTALL)
    assert not re.search(r"\d", content.replace("01_start", ""))
    assert "{" not in book_facts.with_facts(content)
    with pytest.raises(
        ValueError, match="facts: 'weight' is none of chapters, minutes of a core, "
    ):
        book_facts.with_facts("A {weight}, a {time}.")


def test_the_sidebar_has_numbers_and_short_titles():
    names = ["chapters/05_masks", "chapters/14_families", "book/notation"]
    pages = {name: SimpleNamespace(title=None) for name in names}
    book_facts.name_in_sidebar(None, SimpleNamespace(external_site_map=pages))
    assert [page.title for page in pages.values()] == ["5 · Masks", "14 · BERT, GPT, T5", None]
