"""Make the figures of the built book light: fewer colours, their size known, loaded when near.

matplotlib writes 32 bits for each pixel of pictures that hold a few hundred colours, most of them
soft edges. With 128 chosen colours the flat ones stay what they are, to the last bit, and a file
shrinks to about a third. What was done is kept by content, so a second build does none of it again.
"""

import re
import shutil
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from sphinx.application import Sphinx

COLOURS = 128
PICTURE = re.compile(r'<img (?![^>]*\bloading=)([^>]*\bsrc="(?:\.\./)*_images/([^"/]+\.png)")')


def lighten(picture: bytes) -> bytes:
    """Return a PNG of at most 128 colours on white, or the same bytes if that is no smaller."""
    image = Image.open(BytesIO(picture)).convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    flat = Image.alpha_composite(white, image).convert("RGB")
    few = flat.quantize(COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    lighter = BytesIO()
    few.save(lighter, "PNG", optimize=True)
    return min(lighter.getvalue(), picture, key=len)


def lighten_all(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    book = Path(app.outdir)
    kept = Path(app.doctreedir) / "lighter_figures"
    kept.mkdir(parents=True, exist_ok=True)
    sizes = {}
    # myst-nb names a figure after its content; a picture of any other name is left alone.
    for picture in (book / "_images").glob("?" * 64 + ".png"):
        done = kept / picture.name
        if not done.exists():
            lighter = lighten(picture.read_bytes())
            done.with_suffix(".part").write_bytes(lighter)
            done.with_suffix(".part").replace(done)
        shutil.copyfile(done, picture)
        sizes[picture.name] = Image.open(picture).size
    for page in book.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        sized = PICTURE.sub(lambda match: _sized(match, sizes), text)
        if sized != text:
            page.write_text(sized, encoding="utf-8")


def _sized(match: re.Match[str], sizes: dict[str, tuple[int, int]]) -> str:
    if match[2] not in sizes:
        return match[0]
    # With its size known, a picture that comes late moves no text.
    width, height = sizes[match[2]]
    return f'<img width="{width}" height="{height}" loading="lazy" {match[1]}'


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", lighten_all, priority=300)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
