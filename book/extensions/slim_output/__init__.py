"""Shrink the built book: figures of fewer colours, no rules of CSS and no letters that go unused.

In that order, after every style sheet is there and before live code is copied in: its words are no
words of a page, and would keep rules of CSS that no page uses.
"""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from slim_output.css import drop_unused_rules
from slim_output.figures import shrink_figures
from slim_output.fonts import split_fonts

__all__ = ["setup"]

# From which the theme makes pages, and explorers.py and model_in_page.py scripts: a book has none.
TEMPLATES = ("*webpack-macros.html", "load_model.js", "static_widgets.*")


def slim_output(app: Sphinx, error: Exception | None) -> None:
    """Shrink a built HTML book in place; leave any other build alone."""
    if error or app.builder.format != "html":
        return
    book = Path(app.outdir)
    for template in (file for name in TEMPLATES for file in (book / "_static").glob(name)):
        template.unlink()
    shrink_figures(book, cache=Path(app.doctreedir) / "shrunk_figures")
    drop_unused_rules(book, cache=Path(app.doctreedir) / "slim_style")
    fonts = Path(app.confdir, app.config.katex_folder, "fonts")
    split_fonts(book, fonts, cache=Path(app.doctreedir) / "slim_fonts")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", slim_output, priority=600)
    return {"version": "3", "parallel_read_safe": True, "parallel_write_safe": True}
