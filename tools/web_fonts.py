"""Fonts that printed pages and decks of slides bring along, where their language needs one."""

from __future__ import annotations

import shutil
from pathlib import Path

from qkv.fonts import FETCHED, FONTS

FOLDER = "fonts"  # beside the style sheet with the rules


def font_faces(language: str) -> str:
    """The rules of a style sheet for what `copy_fonts` puts beside it; "" for no font."""
    if (font := FONTS.get(language)) is None:
        return ""
    return "".join(
        f'@font-face {{ font-family: "{font.css_family}"; font-weight: {weight}; '
        f'unicode-range: {font.unicode_range}; src: url("{FOLDER}/{Path(file).name}"); }}\n'
        for weight, file in font.files.items()
    )


def copy_fonts(language: str, folder: Path) -> None:
    """Copy the fetched files of a language, and their licence, into fonts/ in a folder."""
    if (font := FONTS.get(language)) is None:
        return
    (folder / FOLDER).mkdir()
    for file in (*font.files.values(), font.licence):
        shutil.copyfile(FETCHED / file, folder / FOLDER / Path(file).name)
