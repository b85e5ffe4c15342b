"""Text normalization: Unicode NFC, spaces between words, no control characters."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Literal

__all__ = [
    "LAYOUT",
    "normalize",
    "normalize_characters",
    "normalized_lines",
    "unicode_normalize",
]

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # on a terminal, a command and no text
AT_ONCE = 1000  # characters whose marks take less than a millisecond in any order
LAYOUT = "\t\n"  # control characters that a text of characters may hold


def _nfc(text: str, call: str) -> str:
    """The text in Unicode NFC, refused where UTF-8 cannot hold it."""
    if not isinstance(text, str):
        hint = "pass one text; decode bytes first"
        raise ValueError(f"{call}: text must be a str, got {type(text).__name__}: {hint}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        hint = 'decode the file with errors="strict"'
        raise ValueError(f"{call}: text must be whole characters: {hint} ({error})") from error
    return unicode_normalize("NFC", text)


def unicode_normalize(form: Literal["NFC", "NFKC"], text: str) -> str:
    """The text in a form of Unicode, in a time that grows with its length.

    `unicodedata` sorts marks by insertion, by the square of their number: a run of 400,000 took it
    a minute and a half. Those of a long text are sorted before it meets them.
    """
    if len(text) > AT_ONCE:
        decomposition: Literal["NFD", "NFKD"] = "NFD" if form == "NFC" else "NFKD"
        letters = "".join(unicodedata.normalize(decomposition, letter) for letter in text)
        runs = groupby(letters, lambda letter: unicodedata.combining(letter) > 0)
        text = "".join("".join(sorted(run, key=unicodedata.combining)) for _, run in runs)
    return unicodedata.normalize(form, text)


def normalize_characters(text: str, call: str = "normalize_characters") -> str:
    """Normalize to Unicode NFC with spaces, tabs and line feeds as they are.

    Other control characters become spaces.

    Raises:
        ValueError: text is no text, or holds half a character.
    """
    text = _nfc(text, call).replace("\r\n", "\n")
    return CONTROL.sub(lambda match: match[0] if match[0] in LAYOUT else " ", text)


def normalize(text: str, call: str = "normalize") -> str:
    """Normalize to Unicode NFC, with one space between words and none around them.

    ▁ counts as a space, and so does a control character.

    Raises:
        ValueError: text is no text, or holds half a character.
    """
    return " ".join(CONTROL.sub(" ", _nfc(text, call)).replace("▁", " ").split())


def normalized_lines(
    call: str, lines: Iterable[str], normalizer: Callable[[str, str], str] = normalize
) -> Iterator[str]:
    """The lines that hold text, normalized.

    Raises:
        ValueError: lines is one text, or holds none.
    """
    if isinstance(lines, str):
        raise ValueError(f"{call}: lines must be many texts, got one: split it into lines")
    empty = True
    for line in lines:
        if text := normalizer(line, call):
            empty = False
            yield text
    if empty:
        raise ValueError(f"{call}: lines hold no text: pass the training text")
