"""Make one book of editions in several languages: English at its root, each other in a folder.

A file that is the same in both, such as the trained model, a font or a figure without words, stands
in the book once: pages and style sheets of the other edition lead to that of the English one.
"""

from __future__ import annotations

import filecmp
import json
import re
import shutil
from os.path import relpath
from pathlib import Path
from urllib.parse import unquote

from qkv.language import ENGLISH
from qkv.live.content_security_policy import OWN_SCRIPTS

SHARED = ("_static", "_images")
# In a page, whose addresses are relative to its own folder. That of a file ends before ? or ".
IN_PAGE = re.compile(rf'(\s(?:src|href)=")((?:\.\./)*)((?:{"|".join(SHARED)})/[^"?#]*)')
IN_SHEET = re.compile(r"""(url\(["']?)([^"'():?#]+)""")


def join_editions(editions: dict[str, Path], book: Path) -> Path:
    """Lay out the book in a new folder.

    Args:
        editions: the folder of each built edition by its language, "en" among them.
    """
    shutil.copytree(editions[ENGLISH], book)
    own = json.loads(path.read_text("utf-8")) if (path := book / OWN_SCRIPTS).exists() else {}
    for language in editions.keys() - {ENGLISH}:
        folder = book / language
        shutil.copytree(editions[language], folder)
        share_files(folder, book)
        # The server asks at the root which inline scripts are the book's own.
        for kind, hashes in json.loads((folder / OWN_SCRIPTS).read_text("utf-8")).items():
            own[kind] = sorted({*own[kind], *hashes})
        shutil.rmtree((folder / OWN_SCRIPTS).parent)
    if own:
        path.write_text(json.dumps(own), encoding="utf-8")
    return book


def share_files(folder: Path, book: Path) -> None:
    """Delete what stands in `book` too, and lead to that."""
    files = (file for name in SHARED for file in (folder / name).rglob("*") if file.is_file())
    same = {
        name
        for name in (file.relative_to(folder).as_posix() for file in files)
        if (book / name).is_file() and filecmp.cmp(folder / name, book / name, shallow=False)
    }
    up = "../" * len(folder.relative_to(book).parts)
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        shared = IN_PAGE.sub(
            lambda m: f"{m[1]}{m[2]}{up if unquote(m[3]) in same else ''}{m[3]}", text
        )
        page.write_text(shared, encoding="utf-8")
    for sheet in (folder / "_static").rglob("*.css"):
        if sheet.relative_to(folder).as_posix() not in same:
            text = sheet.read_text(encoding="utf-8")
            sheet.write_text(in_sheet(text, sheet, folder, book, same), encoding="utf-8")
    for name in same:
        (folder / name).unlink()
    for place in sorted(folder.rglob("*"), reverse=True):
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()


def in_sheet(text: str, sheet: Path, folder: Path, book: Path, same: set[str]) -> str:
    """A style sheet whose addresses of shared files lead to those of the book."""

    def address(match: re.Match[str]) -> str:
        file = (sheet.parent / unquote(match[2])).resolve()
        if file.is_relative_to(folder) and (name := file.relative_to(folder).as_posix()) in same:
            return match[1] + relpath(book / name, sheet.parent)
        return match[0]

    return IN_SHEET.sub(address, text)
