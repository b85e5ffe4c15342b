"""Mend Sphinx's search page: readable excerpts, any word, marks only on the result."""

from typing import Any

from sphinx.application import Sphinx

WITHOUT_EXCERPTS = (
    'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;'
)


def add_scripts(app: Sphinx, page: str, *_: Any) -> None:
    if page == "search":
        # A browser forbids a page from the disk to read others, and an excerpt needs that.
        app.add_js_file(None, body=WITHOUT_EXCERPTS)
        # After Sphinx's own scripts, and before they start.
        app.add_js_file("search_page.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", add_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
