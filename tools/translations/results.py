"""The tables of the benchmarks in another language: a message stands whatever was measured.

What holds a digit is a field of the message, so that a new measurement needs no new translation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tools.translations.catalogue import Message, Translate
from tools.translations.comparison import HANGUL
from tools.translations.markdown import WORD, translate_markdown, words_in

VALUE = re.compile(r"[\w.,%-]*\d[\w.,%-]*(?<![.,])")
CELL, ITEM = re.compile(r"(?<!\\)\|"), re.compile(r"^- ", re.MULTILINE)


def result_pages(root: Path) -> list[Path]:
    """What the benchmarks wrote, in Markdown."""
    return sorted((root / "benchmarks" / "results").glob("*.md"))


def messages_of_results(root: Path) -> Iterator[Message]:
    """The headings, sentences and words in tables of all results."""
    for page in result_pages(root):
        texts = messages_of_result(page.read_text(encoding="utf-8"))
        yield from (Message(text, page.name) for text in texts)


def messages_of_result(source: str) -> list[str]:
    found: list[str] = []

    def note(text: str, place: str = "") -> None:
        found.append(text)

    translate_parts(source, note)
    return found


def translate_results(page: Path, translate: Translate) -> str:
    """The source of one result in another language; in English what is not translated."""
    return translate_parts(page.read_text(encoding="utf-8"), translate)


def translate_parts(source: str, translate: Translate) -> str:
    def part(text: str) -> str:
        """A sentence or a cell without its values, translated, with them."""
        before, text, after = re.split(r"(\S.*\S|\S)", text, maxsplit=1, flags=re.DOTALL)
        message, values = without_values(text)
        if WORD.search(words_in(message)):
            text = (translate(message) or message).format(*values)
        return before + text + after

    def row(line: str) -> str:
        """A row of a table; one with Hangul holds sentences that the model read and wrote."""
        if HANGUL.search(line):
            return line
        return "|".join(part(cell) if cell.strip() else cell for cell in CELL.split(line))

    def block(text: str, how: str) -> str:
        if text.startswith("|"):
            return "\n".join(row(line) for line in text.split("\n"))
        if text.startswith("- "):
            return "- ".join(part(item) if item else "" for item in ITEM.split(text))
        return part(text)

    return translate_markdown(source, block)


def without_values(text: str) -> tuple[str, list[str]]:
    """A format and its values: "{0} tokens" and "64"."""
    values = VALUE.findall(text)
    fields = iter(range(len(values)))
    text = text.replace("{", "{{").replace("}", "}}")
    return VALUE.sub(lambda _: f"{{{next(fields)}}}", text), values
