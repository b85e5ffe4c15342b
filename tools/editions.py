"""The languages of the chapters: English in their folder, each other one in a folder below it.

`chapters/ko/05_masks.ipynb` is the Korean edition of `chapters/05_masks.ipynb`.
"""

from __future__ import annotations

from pathlib import Path

from qkv.language import ENGLISH, languages


def notebooks_in(chapters: Path, language: str = ENGLISH) -> list[Path]:
    """The notebooks of a language, in the order of the book."""
    folder = chapters if language == ENGLISH else chapters / language
    return sorted(folder.glob("[0-9][0-9]_*.ipynb"))


def languages_of(chapters: Path) -> tuple[str, ...]:
    """The languages that have notebooks, English first."""
    return tuple(language for language in languages() if notebooks_in(chapters, language))


def language_of(notebook: Path) -> str:
    """The language of a notebook, by the folder in which it stands."""
    folder = notebook.parent.name
    return folder if folder in languages() else ENGLISH


def short_name(notebook: Path) -> str:
    """ "05_masks.ipynb", or "ko/05_masks.ipynb" for that of another language."""
    language = language_of(notebook)
    return notebook.name if language == ENGLISH else f"{language}/{notebook.name}"
