"""What the script of a reader's progress knows of the chapters is what stands in them."""

from __future__ import annotations

import gzip
import importlib
import json
import re
import sys
from gettext import NullTranslations
from pathlib import Path

import pytest

from qkv.language import gettext

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "extensions"))
reading_progress = importlib.import_module("reading_progress")

LIMITS = {"progress.js": 4600, "progress_dialog.js": 2600}  # bytes, compressed
HEADING = re.compile(r"^### Exercise \w+-(\d+) · |^## (Going further)$", re.MULTILINE)


def exercises(path: Path) -> tuple[list[int], list[int]]:
    """The numbers in a notebook's headings, before and behind *Going further*."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    found = HEADING.findall(text)
    border = found.index(("", "Going further"))
    core, further = ([int(n) for n, _ in part] for part in (found[:border], found[border + 1 :]))
    return core, further


def test_the_script_knows_the_exercises_of_every_chapter() -> None:
    known = {page: (core, further) for page, _, core, further in json.loads(chapters())}
    assert known == {path.stem: exercises(path) for path in (ROOT / "chapters").glob("*.ipynb")}
    assert known["05_masks"][0][0] == 1


def chapters() -> str:
    return str(reading_progress.chapters())


def test_nothing_is_left_to_fill_in_and_one_script_leads_to_the_other() -> None:
    scripts = reading_progress.scripts()
    assert scripts.keys() == LIMITS.keys()
    assert not any(
        "{{" in text or re.search(r"^(im|ex)port ", text, re.M) for text in scripts.values()
    )
    assert re.search(r'"progress_dialog\.js\?v=[0-9a-f]{8}"', scripts["progress.js"])


class Shouting(NullTranslations):
    def gettext(self, message: str) -> str:
        return message.upper()


def test_the_scripts_are_the_same_in_each_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """Editions share them: what they ask the book's server for is beside them, at its root."""
    in_english = reading_progress.scripts()
    monkeypatch.setattr("qkv.language.catalogue", lambda _: Shouting())
    assert gettext("read") == "READ"
    assert reading_progress.scripts() == in_english


@pytest.mark.parametrize("name", LIMITS)
def test_a_page_stays_light(name: str) -> None:
    text = reading_progress.scripts()[name]
    assert len(gzip.compress(text.encode(), 9)) <= LIMITS[name]


def test_every_sentence_of_a_script_can_be_found_in_its_source() -> None:
    """A catalogue is made of the literal texts that are given to `gettext`."""
    for path in (ROOT / "book" / "progress").rglob("*.js"):
        text = path.read_text("utf-8")
        calls = re.findall(r"\bgettext\((?!name\))", text)  # the name of a chapter: chapters.json
        assert len(calls) == len(re.findall(r'\bgettext\("', text)), path
