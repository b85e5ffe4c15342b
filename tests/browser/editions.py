"""Which pages of another edition than English the tests open in a browser.

Every page of it is built, linked, anchored, weighed and compared without one; its words apart, what
a browser makes of it is what it makes of the English page.
"""

from __future__ import annotations

from collections.abc import Iterable

from qkv.language import ENGLISH, languages

LOOKED_AT = {
    *("book/index.html", "book/glossary.html", "chapters/01_start.html"),
    *("chapters/03_attention.html", "chapters/05_masks.html"),
}


def language_of(page: str) -> str:
    """The language of a page, by its address in the book."""
    folder = page.partition("/")[0]
    return folder if folder in languages() else ENGLISH


def looked_at(pages: Iterable[str]) -> list[str]:
    """All English pages, and a few of every other edition, sorted."""
    return sorted(
        page
        for page in pages
        if (language := language_of(page)) == ENGLISH
        or page.removeprefix(f"{language}/") in LOOKED_AT
    )
