"""What has to be the same in a message and in its translation, and what must not be left."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

from markdown_it import MarkdownIt

from tools.translations.markdown import CODE, FORMULA, LINK_TARGET, NAME, ROLE, TAG

MARKDOWN = MarkdownIt("commonmark")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
FIELD = re.compile(r"\{[^{}\s][^{}]*\}|\{\}")
WORDS_OF_FORMULA = re.compile(r"\\text\{[^{}]*\}")
WORDS_OF_TAG = re.compile(r'\b(alt|title|aria-label)="[^"]*"')
ROWS = re.compile(r"^ *\|.*\| *$", re.MULTILINE)
ITEMS = re.compile(r"^ *(?:[-*]|\d+\.) ", re.MULTILINE)
ENGLISH = re.compile(r"[A-Za-z][a-z]*(?:[ ,]+[A-Za-z'’-]*[a-z]){3,}")
HANGUL = re.compile(r"[가-힣]")
NAME_OF_CODE = re.compile(r"[\w.<>=+*/%|:&~^()\[\]{}−∞→↓-]+")


def formulas(text: str) -> Iterator[str]:
    """The formulas of a message, without the words in them."""
    for formula in FORMULA.findall(CODE.sub(" ", text)):
        yield WORDS_OF_FORMULA.sub(r"\\text{}", " ".join(formula.split()))


def tags(text: str) -> Iterator[str]:
    """The tags of a message, without the words in them."""
    for tag in TAG.findall(CODE.sub(" ", text)):
        yield WORDS_OF_TAG.sub(r"\1", tag)


def code(text: str) -> Iterator[str]:
    matches = CODE.finditer(ROLE.sub(" ", text))
    yield from (match[0] for match in matches if "\n" not in match[0])


def numbers(text: str) -> Iterator[str]:
    """The numbers of a message that stand in none of its other parts."""
    for pattern in (ROLE, CODE, FORMULA, TAG, LINK_TARGET, FIELD):
        text = pattern.sub(" ", text)
    yield from NUMBER.findall(text)


def table_rows(text: str) -> Iterator[str]:
    """For each row of a table, how many cells it has."""
    yield from (f"a row of {row.count('|') - 1}" for row in ROWS.findall(FORMULA.sub("", text)))


def stars(text: str) -> Iterator[str]:
    """Asterisks that a reader would see: marks of emphasis that do not close."""
    for pattern in (ROLE, CODE, FORMULA, TAG):
        text = pattern.sub("x", text)
    for token in MARKDOWN.parse(text):
        for inner in token.children or ():
            if inner.type == "text":
                yield from "*" * inner.content.count("*")


Parts = Mapping[str, Callable[[str], Iterator[str]]]
PARTS: Parts = {
    "numbers": numbers,
    "inline code": code,
    "formulas": formulas,
    "links": lambda text: iter(LINK_TARGET.findall(text)),
    "citations": lambda text: iter(ROLE.findall(text)),
    "tags": tags,
    "names in braces": lambda text: iter(NAME.findall(FORMULA.sub("", CODE.sub(" ", text)))),
    "table rows": table_rows,
    "asterisks": stars,
    "list items": lambda text: iter("-" * len(ITEMS.findall(text))),
}
FIELDS: Parts = {
    "fields": lambda text: iter(FIELD.findall(text)),
    "inline code": code,
    "numbers": lambda text: iter(NUMBER.findall(FIELD.sub(" ", text))),
    "tags": tags,
}


def differences(message: str, translation: str, parts: Parts | None = None) -> list[str]:
    """What the two sides do not share, each as a sentence; empty where all is the same.

    Args:
        parts: PARTS for prose, which is the default, FIELDS for the texts of code.
    """
    found = []
    for name, part in (parts or PARTS).items():
        left, right = Counter(part(message)), Counter(part(translation))
        if left != right:
            only = f"{sorted((left - right).elements())} are only in the English"
            added = f"{sorted((right - left).elements())} only in the translation"
            found.append(f"{name}: {only}, {added}")
    return found


def english_left(message: str, translation: str, kept: Collection[str]) -> str:
    """English words of a translation that are neither code nor of `kept`; "" where there are none.

    Args:
        kept: texts that stay English, such as the sentences that are taken apart.
    """
    if translation == message and NAME_OF_CODE.fullmatch(message):
        return ""
    for text in sorted(kept, key=len, reverse=True):
        translation = translation.replace(text, " ")
    for pattern in (ROLE, CODE, FORMULA, TAG, LINK_TARGET, FIELD):
        translation = pattern.sub(" ", translation)
    if run := ENGLISH.search(translation):
        return run[0]
    whole = translation.strip()
    words = re.findall(r"[A-Za-z]{3,}", whole)
    return whole if len(words) > 1 and not HANGUL.search(whole) else ""
