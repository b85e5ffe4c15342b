"""Message catalogues as files: read, brought up to date with their sources, written by Babel."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from qkv.files import atomic_write

# Lines of the header that tell who wrote a file when, and by what: they change without a need.
LEFT_OUT = re.compile(
    r'"(Project-Id-Version|Report-Msgid-Bugs-To|POT-Creation-Date|PO-Revision-Date|'
    r"Last-Translator|Language-Team|Generated-By):"
)


@dataclass(frozen=True)
class Message:
    """A text for readers.

    Args:
        place: where it stands: the id of a cell, or a file.
        line: the line of code around it, where that tells what it is.
    """

    text: str
    place: str
    line: str = ""


class Translations:
    """The translations of one catalogue, and the texts asked for that it lacks."""

    def __init__(self, catalogue: Catalog) -> None:
        self.catalogue = catalogue
        self.missing: list[str] = []

    def __call__(self, text: str, place: str = "") -> str | None:
        """The translation of a message; None if there is none, or it is of another English text.

        Args:
            place: a cell's id; a message with that context is the one for this cell alone.
        """
        for context in (place, None):
            found = self.catalogue.get(text, context) if context != "" else None
            if found and found.string and not found.fuzzy:
                return str(found.string)
        self.missing.append(text)
        return None


def read_catalogue(path: Path, language: str) -> Catalog:
    """The catalogue of a file; an empty one where there is no file."""
    if not path.exists():
        return Catalog(locale=language)
    with path.open("rb") as file:
        catalogue = read_po(file, locale=language)
    for message in catalogue:  # Babel takes the English of before, "#| …", for a comment
        message.user_comments = [c for c in message.user_comments if not c.startswith("|")]
    return catalogue


def update_catalogue(path: Path, language: str, messages: Iterable[Message]) -> Catalog:
    """Bring a catalogue to its sources and write it if that changes it.

    A message that is new is empty; one whose English changed keeps its translation, marked fuzzy;
    one that no source has any more goes.
    """
    before, template = read_catalogue(path, language), Catalog(locale=language, charset="utf-8")
    for message in messages:
        comments = [message.line] if message.line else []
        place = [(message.place, 0)]
        template.add(message.text, locations=place, auto_comments=comments)
        if before.get(message.text, message.place):
            template.add(message.text, locations=place, context=message.place)
    before.update(template, update_creation_date=False)
    before.obsolete.clear()
    text = catalogue_text(before)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, text.encode())
    return before


def catalogue_text(catalogue: Catalog) -> str:
    """A catalogue as the text of its file, the same whenever it is written."""
    catalogue.header_comment = ""
    catalogue.fuzzy = False
    target = io.BytesIO()
    write_po(target, catalogue, width=0, include_lineno=False, include_previous=True)
    lines = target.getvalue().decode().splitlines(keepends=True)
    return "".join(line for line in lines if not LEFT_OUT.match(line))


def untranslated(catalogue: Catalog) -> list[str]:
    """The messages that a page shows in English: empty ones, and fuzzy ones."""
    return [
        str(message.id)
        for message in catalogue
        if message.id and (not message.string or message.fuzzy)
    ]


class Translate(Protocol):
    """What `Translations` is: the translation of a message in a place, or None."""

    def __call__(self, text: str, place: str = "") -> str | None: ...
