"""The README, which lists the chapters, and the README of each other language beside it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from qkv.language import get_language, gettext
from tools.translations.catalogue import Message, Translate
from tools.translations.markdown import messages_of_markdown, translate_markdown

MARK, END = "<!-- chapters: written by make facts -->", "<!-- -->"
LIST = re.compile(f"{MARK}\n.*?\n{END}", re.DOTALL)


def messages_of_readme(readme: Path) -> Iterator[Message]:
    for part in parts(readme.read_text(encoding="utf-8")):
        yield from (Message(text, readme.name) for text in messages_of_markdown(part))


def translate_readme(source: str, titles: Sequence[str], translate: Translate) -> str:
    """The README in the language that is set; what is not translated stands there in English.

    Its picture is the one of that language, as `book/readme.ko.png`.
    """
    before, after = (
        translate_markdown(part, lambda text, how: translate(text) or text)
        for part in parts(source)
    )
    text = joined(before, [gettext(title) for title in titles], after)
    return text.replace("(book/readme.png)", f"(book/readme.{get_language()}.png)")


def parts(source: str) -> tuple[str, str]:
    """What stands before the list of the chapters, and what behind it.

    Raises:
        ValueError: the list is not there.
    """
    listed = LIST.search(source)
    if not listed:
        raise ValueError(f"README.md: expected the chapters between {MARK} and {END}, found none")
    return source[: listed.start()], source[listed.end() :]


def with_chapters(source: str, titles: Sequence[str]) -> str:
    """The README with the titles of today."""
    before, after = parts(source)
    return joined(before, titles, after)


def joined(before: str, titles: Sequence[str], after: str) -> str:
    """The parts with the list of the chapters between its marks."""
    return f"{before}{MARK}\n{chapter_list(titles)}\n{END}{after}"


def chapter_list(titles: Sequence[str]) -> str:
    """How many chapters there are, and which, in lines of at most 112 columns."""
    text = gettext("{count} chapters: {titles}.")
    text = text.format(count=len(titles), titles="; ".join(titles))
    return textwrap.fill(text, 112, break_long_words=False, break_on_hyphens=False)
