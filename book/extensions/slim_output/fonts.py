"""Give a visitor those letters of KaTeX's fonts that the book's formulas use.

In the style sheet each font becomes two faces of one name: the letters that occur, and the font as
it was for all others, such as those of a formula that a live cell prints. `unicode-range` tells a
browser which characters a file has, and it asks for no file before a page shows one of them. A
formula's Korean is in neither, so it costs nothing here.
"""

import hashlib
import logging
import re
import shutil
from html import unescape
from pathlib import Path

from fontTools import subset

SHEET = "_static/katex/katex.css"
# From one formula to the end of the block that it stands in: too many letters do no harm.
FORMULA = re.compile(
    r'<span class="katex-html".*?(?=<span class="katex-mathml"|</(?:p|div|li|t[dh]|d[dt]|h\d)>)',
    re.DOTALL,
)
TAG = re.compile(r"<[^>]*>")
logging.getLogger("fontTools").setLevel(logging.ERROR)  # it tells of each table of a font
FACE = re.compile(r"@font-face\{[^}]*?url\(fonts/([\w-]+)\.woff2\)[^}]*\}")
GAP = 0x1000  # less than there are Korean syllables
SOURCE = re.compile(r"src:[^;}]*")


def split_fonts(book: Path, fonts: Path, cache: Path) -> None:
    """Write the fonts of fewer letters into a built book, and the faces into its style sheet.

    Args:
        book: its folder.
        fonts: KaTeX's own, each also as .ttf.
        cache: keeps what was made, by what it was made of.
    """
    pages = [page.read_text(encoding="utf-8") for page in book.rglob("*.html")]
    letters = {ord(letter) for page in pages for letter in letters_of_formulas(page)}
    cache.mkdir(parents=True, exist_ok=True)
    sheet = book / SHEET

    def split(face: re.Match[str]) -> str:
        font = fonts / f"{face[1]}.ttf"
        known = set(subset.load_font(font, subset.Options()).getBestCmap())
        small = with_letters(font, known & letters, cache)
        shutil.copyfile(small, sheet.parent / "fonts" / small.name)
        source = f'src:url(fonts/{small.name}) format("woff")'
        parts = ((known - letters, ""), (known & letters, source))
        return "".join(
            face_of(SOURCE.sub(src, face[0]) if src else face[0], part, known | letters)
            for part, src in parts
            if part
        )

    sheet.write_text(FACE.sub(split, sheet.read_text(encoding="utf-8")), encoding="utf-8")


def letters_of_formulas(page: str) -> set[str]:
    return {
        letter for html in FORMULA.findall(page) for letter in unescape(TAG.sub("", html))
    } - set("\n\t")


def with_letters(font: Path, letters: set[int], cache: Path) -> Path:
    """The file of a font with these letters alone, named after what it holds."""
    key = hashlib.sha256(repr((font.read_bytes(), sorted(letters))).encode()).hexdigest()
    small = cache / f"{font.stem}.{key[:16]}.woff"
    if not small.exists():
        # Without instructions for coarse pixels: a fifth of the file, which screens hardly use now.
        options = subset.Options(flavor="woff", layout_features=["*"], hinting=False)
        whole = subset.load_font(font, options)
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=letters)
        subsetter.subset(whole)
        subset.save_font(whole, small, options)
    return small


def face_of(face: str, letters: set[int], apart: set[int]) -> str:
    return f"{face.removesuffix('}')};unicode-range:{unicode_range(letters, apart - letters)}}}"


def unicode_range(letters: set[int], apart: set[int]) -> str:
    """Characters in CSS: "U+41-43,U+61". A run goes on over a few others, which makes it shorter.

    Args:
        letters: code points.
        apart: others that no run may hold.
    """
    runs: list[list[int]] = []
    goes_on = False
    for point in sorted(letters | apart):
        if point in letters and goes_on and point - runs[-1][1] < GAP:
            runs[-1][1] = point
        elif point in letters:
            runs.append([point, point])
        goes_on = point in letters
    return ",".join(
        f"U+{first:X}" if first == last else f"U+{first:X}-{last:X}" for first, last in runs
    )
