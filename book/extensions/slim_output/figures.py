"""Shrink matplotlib's figures: fewer colours, their size in the page, loaded when near.

matplotlib writes 32 bits for each pixel of pictures that hold a few hundred colours, most of them
soft edges. With 128 chosen colours the flat ones stay what they are, to the last bit, and a file
shrinks to about a third. What was shrunk is kept by content: a second build does none of it again.
"""

import re
import shutil
from io import BytesIO
from pathlib import Path

from PIL import Image

COLOURS = 128
IMG_TAG = re.compile(r'<img (?![^>]*\bloading=)([^>]*\bsrc="(?:\.\./)*_images/([^"/]+\.png)")')


def quantize(picture: bytes) -> bytes:
    """Return a PNG of at most 128 colours on white, or the same bytes if that is no smaller."""
    image = Image.open(BytesIO(picture)).convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    opaque = Image.alpha_composite(white, image).convert("RGB")
    paletted = opaque.quantize(COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    buffer = BytesIO()
    paletted.save(buffer, "PNG", optimize=True)
    return min(buffer.getvalue(), picture, key=len)


def shrink_figures(book: Path, cache: Path) -> None:
    """Quantize every figure of a built book, and write the sizes into its pages."""
    cache.mkdir(parents=True, exist_ok=True)
    sizes = {}
    # myst-nb names a figure after its content; a picture of any other name is left alone.
    for picture in (book / "_images").glob("?" * 64 + ".png"):
        shrunk = cache / picture.name
        if not shrunk.exists():
            part = shrunk.with_suffix(".part")
            part.write_bytes(quantize(picture.read_bytes()))
            part.replace(shrunk)
        shutil.copyfile(shrunk, picture)
        sizes[picture.name] = Image.open(picture).size
    for page in book.rglob("*.html"):
        before = page.read_text(encoding="utf-8")
        after = add_sizes(before, sizes)
        if after != before:
            page.write_text(after, encoding="utf-8")


def add_sizes(page: str, sizes: dict[str, tuple[int, int]]) -> str:
    """Give the figures of a page width and height: one that comes late then moves no text."""

    def sized(match: re.Match[str]) -> str:
        if match[2] not in sizes:
            return match[0]
        width, height = sizes[match[2]]
        return f'<img width="{width}" height="{height}" loading="lazy" {match[1]}'

    return IMG_TAG.sub(sized, page)
