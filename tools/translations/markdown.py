"""The messages of a Markdown source: its blocks, without the marks around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

FENCE = re.compile(r"^(?P<mark>`{3,}|:{3,})(?P<info>.*)$")
TAGS_ALONE = re.compile(r"^(\s*</?[a-z][^<>]*>\s*)+$")
TARGET = re.compile(r"^\([\w-]+\)=$")
HEADING = re.compile(r"^#{1,6} +")
OPTION = re.compile(r"^:[\w-]+:")
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$]+?\$", re.DOTALL)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
TAG = re.compile(r"</?[A-Za-z][^<>]*>")
LINK_TARGET = re.compile(r"\]\([^()\s]*\)")
ROLE = re.compile(r"\{[A-Za-z][\w:]*\}`[^`]*`")
NAME = re.compile(r"\{[\w ]+\}")
WORD = re.compile(r"[^\W\d_]{2,}")
# \text{...} of more than a subscript's one word holds words; \text{model} below a d is a symbol.
WORDS_IN_FORMULA = re.compile(r"(?<![_{])\\text\{[^{}]*[A-Za-z]{2,}[^{}]*\}")

# How a message stands: by itself, behind the marks of a heading, inside a directive.
BLOCK, TITLE, INSIDE = "block", "title", "inside"
Piece = tuple[str, str]  # a text, and how it stands; "" if it is no message


def translate_markdown(source: str, translate: Callable[[str, str], str]) -> str:
    """The source with each message replaced by `translate(message, how it stands)`."""
    return "".join(translate(text, how) if how else text for text, how in pieces(source))


def messages_of_markdown(source: str) -> list[str]:
    """The messages in the order in which they stand."""
    return [text for text, how in pieces(source) if how]


def pieces(source: str) -> Iterator[Piece]:
    """What the source consists of: joined, the texts are the source again.

    A message is a paragraph, a list, a table or an entry as a whole, a heading without its marks,
    a `<summary>`. Fences of code are messages where a comment says something, formulas where
    they hold words.
    """
    block: list[str] = []
    opened: list[str] = []  # marks of the directives that are open
    lines = source.splitlines(keepends=True)
    position, first = 0, False
    while position < len(lines):
        line = lines[position]
        bare, inside = line.strip(), bool(opened)
        fence = FENCE.match(bare)
        end = position + 1
        if fence and bare in opened:
            opened.remove(bare)
        elif fence and fence["info"].startswith("{"):
            opened.append(fence["mark"])
        elif fence:
            end = closing(lines, position, fence["mark"])
        elif bare.startswith("$$") and (bare == "$$" or not bare.endswith("$$")):
            end = closing(lines, position, "$$")
        elif bare and not is_mark(bare, first):
            heading = HEADING.match(line)
            if heading:
                yield from joined(block, inside)
                block = []
                yield heading[0], ""
                yield from message(line[heading.end() :], TITLE)
            else:
                block.append(line)
            position, first = end, False
            continue
        yield from joined(block, inside)
        block = []
        text = "".join(lines[position:end])
        body = text.rstrip("\n")
        words = end > position + 1 and has_words_of_its_own(text)
        yield body, BLOCK if words else ""
        yield text[len(body) :], ""
        first = bool(fence and fence["info"].startswith("{")) or (first and is_option(bare))
        position = end
    yield from joined(block, bool(opened))


def closing(lines: list[str], start: int, mark: str) -> int:
    """The line after the one that closes what opens at `start`."""
    for position in range(start + 1, len(lines)):
        if lines[position].strip().endswith(mark):
            return position + 1
    return len(lines)


def is_option(bare: str) -> bool:
    return bool(OPTION.match(bare))


def is_mark(bare: str, first: bool) -> bool:
    """Whether a line is nothing but marks: tags, the name of a place, an option of a directive."""
    return bool(TAGS_ALONE.match(bare) or TARGET.match(bare) or (first and is_option(bare)))


def has_words_of_its_own(text: str) -> bool:
    """Whether a fence of code has a comment, or a formula has words, for a reader."""
    if text.lstrip().startswith("$$"):
        return bool(WORDS_IN_FORMULA.search(text))
    return any(WORD.search(line.partition("# ")[2]) for line in text.splitlines())


def joined(block: list[str], inside: bool) -> Iterator[Piece]:
    if block:
        yield from message("".join(block), INSIDE if inside else BLOCK)


def message(text: str, how: str) -> Iterator[Piece]:
    """The text without the line break at its end, and that; no message if it has no words."""
    body = text.rstrip("\n")
    yield body, how if WORD.search(words_in(body)) else ""
    yield text[len(body) :], ""


def words_in(text: str) -> str:
    """What is left of a message without code, formulas, tags, addresses and names in braces."""
    formulas = " ".join(WORDS_IN_FORMULA.findall(text)).replace(r"\text", "")
    for pattern in (ROLE, CODE, FORMULA, TAG, LINK_TARGET, NAME):
        text = pattern.sub(" ", text)
    return f"{text} {formulas}"
