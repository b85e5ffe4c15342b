"""The language of the words for readers: a context variable, and the catalogues of its messages.

English is the source and needs no catalogue. `qkv/locale/<language>/LC_MESSAGES/qkv.po` holds the
others; a wheel has them compiled (`qkv.mo`), a checkout is read as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path

ENGLISH = "en"
LOCALE = Path(__file__).parent / "locale"

_LANGUAGE = ContextVar("language", default=ENGLISH)


def gettext(message: str) -> str:
    """The message in the reader's language; itself where that is English or has no such message.

    Args:
        message: a whole sentence, title or label, as a literal string, so that it can be found in
            the source. What varies in it is a named field, filled in afterwards:
            `gettext("{done} of {total} done").format(done=2, total=6)`.
    """
    return catalogue(_LANGUAGE.get()).gettext(message) if message else message


def gettext_noop(message: str) -> str:
    """The message itself: marks a literal for the catalogue where `gettext` is called later on it.

    A constant of a module is made before anybody has chosen a language.
    """
    return message


def set_language(language: str) -> None:
    """Choose the language of explorers, verdicts and figures from here on, in this context.

    Args:
        language: "en" or a folder of `qkv/locale`, such as "ko".

    Raises:
        ValueError: there is no such language.
    """
    if language not in languages():
        known = ", ".join(languages())
        raise ValueError(f"set_language: language must be one of {known}, got {language!r}")
    _LANGUAGE.set(language)


@contextmanager
def using_language(language: str) -> Iterator[None]:
    """`set_language` for the length of a block."""
    before = _LANGUAGE.get()
    set_language(language)
    try:
        yield
    finally:
        _LANGUAGE.set(before)


def get_language() -> str:
    """The language of the words for readers, such as "en"."""
    return _LANGUAGE.get()


def languages() -> tuple[str, ...]:
    """English and every language that has a catalogue, sorted."""
    found = {path.parts[-3] for path in LOCALE.glob("*/LC_MESSAGES/qkv.[mp]o")}
    return (ENGLISH, *sorted(found))


@cache
def catalogue(language: str) -> NullTranslations:
    """The messages of a language, read once. Those that are fuzzy, or empty, stay English."""
    folder = LOCALE / language / "LC_MESSAGES"
    if language == ENGLISH:
        return NullTranslations()
    if (compiled := folder / "qkv.mo").exists():
        return GNUTranslations(BytesIO(compiled.read_bytes()))
    from babel.messages.mofile import write_mo  # in a checkout, where the book's tools have it
    from babel.messages.pofile import read_po

    target = BytesIO()
    with (folder / "qkv.po").open("rb") as source:
        write_mo(target, read_po(source, locale=language))
    target.seek(0)
    return GNUTranslations(target)
