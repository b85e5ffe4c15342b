"""Titles and minutes stand everywhere as the notebooks have them; what is stale is written anew."""

import json
import re
import shutil
from pathlib import Path

import pytest

from qkv.explore.start_map import BOOK
from tools import book_facts

ROOT = Path(__file__).parents[2]


def test_no_file_of_the_book_is_stale():
    stale = [str(path.relative_to(ROOT)) for path in book_facts.stale_files()]
    assert not stale, f"{', '.join(stale)}: other titles or minutes than the chapters': make facts"


@pytest.fixture
def book(tmp_path, monkeypatch):
    """Two chapters of the book, of which one has changed."""
    facts, readme = tmp_path / "chapters.json", tmp_path / "README.md"
    for name, path in (("ROOT", tmp_path), ("FACTS", facts), ("README", readme)):
        monkeypatch.setattr(book_facts, name, path)
    (tmp_path / "chapters").mkdir()
    for name in ("01_start", "05_masks"):
        shutil.copy(ROOT / "chapters" / f"{name}.ipynb", tmp_path / "chapters")
    facts.write_text("[]\n")
    readme.write_text(
        "Before.\n\n<!-- chapters: written by make facts -->\nNone.\n<!-- -->\n\nBehind."
    )
    path = tmp_path / "chapters" / "05_masks.ipynb"
    text = path.read_text("utf-8").replace('"# Masks\\n"', '"# Masking\\n"', 1)
    text = re.sub(r"\*Read: \d+", "*Read: 1", text, count=1)
    path.write_text(text, "utf-8")
    return tmp_path


def run(monkeypatch, *options):
    """The exit status, and the chapters that were run."""
    ran = []
    monkeypatch.setattr("sys.argv", ["book_facts.py", *options])
    monkeypatch.setattr(book_facts, "refresh", lambda path, *_, **__: ran.append(path.name))
    return book_facts.main(), ran


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_check_names_what_is_stale_and_writes_nothing(book, monkeypatch, capsys):
    before = contents(book)
    assert run(monkeypatch, "--check") == (1, [])
    said = [f"{name}: stale: make facts" for name in ("chapters.json", "README.md")]
    assert capsys.readouterr().out.splitlines() == [
        "chapters/05_masks.ipynb: stale: make facts",
        *said,
    ]
    assert contents(book) == before


def test_what_is_stale_is_written_and_the_chapter_of_the_map_runs(book, monkeypatch, capsys):
    other = (book / "chapters" / "01_start.ipynb").read_bytes()
    assert run(monkeypatch) == (0, ["01_start.ipynb"])
    minutes = next(chapter.minutes for chapter in BOOK if chapter.concept == "masks")
    text = (book / "chapters" / "05_masks.ipynb").read_text("utf-8")
    assert "*Read: {} minutes. Exercises: {}. Going further: {}.*".format(*minutes) in text
    stored = json.loads((book / "chapters.json").read_text("utf-8"))
    assert [facts["title"] for facts in stored] == ["A Transformer at work", "Masking"]
    assert stored[1]["minutes"] == {"en": list(minutes)}
    readme = (book / "README.md").read_text("utf-8")
    assert "-->\n2 chapters: A Transformer at work; Masking.\n<!--" in readme
    assert readme.startswith("Before.")
    assert readme.endswith("Behind.")
    assert (book / "chapters" / "01_start.ipynb").read_bytes() == other
    capsys.readouterr()
    assert run(monkeypatch) == (0, [])
    assert capsys.readouterr().out == ""
