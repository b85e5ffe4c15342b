"""The editions of the book: English in each folder, every other language in a folder below it.

`chapters/ko/05_masks.ipynb` is the Korean edition of `chapters/05_masks.ipynb`, and
`_build/html/ko/` that of the pages in `_build/html/`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from qkv.language import ENGLISH, languages

# Other folders are linked; a page and its pictures have to lie inside the folder that is built.
COPIED = ("benchmarks", "book")
PAGE = "book/index.html"  # the first of the book: an edition that is built has it


def edition_folder(folder: Path, language: str) -> Path:
    """Where the files of an edition stand: chapters, chapters/ko; _build/pdf, _build/pdf/ko."""
    return folder if language == ENGLISH else folder / language


def built_editions(book: Path) -> list[str]:
    """The languages of the editions that are built; of English in any case.

    Args:
        book: the folder of the English one, such as _build/html.
    """
    others = (one for one in languages() if one != ENGLISH)
    return [ENGLISH, *(one for one in others if (edition_folder(book, one) / PAGE).is_file())]


def whole_edition(book: Path, language: str) -> Path:
    """The folder of a built edition in which all stands that its pages need.

    The book itself holds once what its editions share.
    """
    return book if language == ENGLISH else book.with_name("sphinx") / language / "html"


def notebooks_in(chapters: Path, language: str = ENGLISH) -> list[Path]:
    """The notebooks of a language, in the order of the book."""
    return sorted(edition_folder(chapters, language).glob("[0-9][0-9]_*.ipynb"))


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


def copy_all_but_chapters(root: Path, folder: Path) -> None:
    """Lay out the sources of the book of `root` in a new folder, without its chapters."""
    folder.mkdir(parents=True)
    for entry in root.iterdir():
        if entry.name.startswith(".") or entry.name in ("_build", "chapters"):
            continue
        if entry.name in COPIED:
            shutil.copytree(entry, folder / entry.name)
        elif entry.is_file():
            shutil.copy(entry, folder)
        else:
            (folder / entry.name).symlink_to(entry)
