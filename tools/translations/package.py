"""The messages of the package, of the page's scripts and of the book's extensions."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from babel.messages.extract import extract_from_file

from qkv.experiments.stored_results import summary
from tools.translations.catalogue import Message
from tools.translations.markdown import WORD

FOLDERS = ("src/qkv", "book", "tools")
KEYWORDS = {"gettext": None, "gettext_noop": None}
METHODS = {".py": "python", ".js": "javascript", ".html": "jinja2.ext:babel_extract"}
EXERCISES = Path("src/qkv/exercises")
EXPERIMENTS = Path("src/qkv/experiments")
CHAPTERS = Path("src/qkv/explore/chapters.json")


def messages_of_package(root: Path) -> Iterator[Message]:
    """Literals given to `gettext` or `gettext_noop`, words of exercises, titles of chapters."""
    files = sorted(
        file
        for folder in FOLDERS
        for file in (root / folder).rglob("*")
        if file.suffix in METHODS and "locale" not in file.parts
    )
    for file in files:
        place = file.relative_to(root)
        found = extract_from_file(METHODS[file.suffix], str(file), keywords=KEYWORDS)
        yield from (Message(str(text), place.as_posix()) for _, text, _, _ in found if text)
        if place.parent == EXERCISES and file.suffix == ".py":
            texts = words_of_exercises(file.read_text(encoding="utf-8"))
            yield from (Message(text, place.as_posix()) for text in texts)
    for chapter in json.loads((root / CHAPTERS).read_text(encoding="utf-8")):
        titles = dict.fromkeys((chapter["title"], chapter["title"].partition(":")[0]))
        yield from (Message(title, CHAPTERS.as_posix()) for title in titles)
    for file in sorted((root / EXPERIMENTS).glob("[!_]*.py")):  # a table shows what each is
        yield Message(summary(file), file.relative_to(root).as_posix())


def words_of_exercises(source: str) -> Iterator[str]:
    """Mistakes, hints and remarks of a module of exercises: its strings of several words."""
    parsed = ast.parse(source)
    left_out: set[int] = set()  # docstrings, and what stands between the fields of an f-string
    for node in ast.walk(parsed):
        if isinstance(node, ast.Expr):
            left_out.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            left_out.update(map(id, node.values))
    for node in ast.walk(parsed):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            several = " " in node.value.strip() and bool(WORD.search(node.value))
            if several and id(node) not in left_out:
                yield node.value
