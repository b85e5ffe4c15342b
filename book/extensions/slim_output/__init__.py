"""Shrink the built book: delete unused files, shrink figures, drop unused CSS.

In that order, after the build and before live code is copied in: its words are no words of a page,
and would keep rules of CSS that no page uses.
"""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from slim_output.css import drop_unused_rules
from slim_output.figures import shrink_figures
from slim_output.unused_files import delete_unused_files

__all__ = ["setup"]


def slim_output(app: Sphinx, error: Exception | None) -> None:
    """Shrink a built HTML book in place; leave any other build alone."""
    if error or app.builder.format != "html":
        return
    book = Path(app.outdir)
    delete_unused_files(book, bool(app.config.html_theme_options.get("launch_buttons")))
    shrink_figures(book, cache=Path(app.doctreedir) / "shrunk_figures")
    drop_unused_rules(book, cache=Path(app.doctreedir) / "slim_style")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", slim_output, priority=400)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
