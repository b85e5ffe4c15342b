"""Tell the book's own scripts from any that slipped into a page; a page that runs others stops all.

The server's content policy lets run what is named here, and not what it finds in a page: its hashes
come from _live/own_scripts.json, which no page's content writes.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from search_page import WITHOUT_EXCERPTS
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from qkv.live.content_security_policy import (
    OWN_SCRIPTS,
    InlineScriptParser,
    hash_source,
)

# What templates of the theme and our own write into a page, by hash: the text of a template holds
# settings and translated words. A new version of the theme may write others: the build names each,
# and who has read it adds it here.
TEMPLATES = (
    "'sha256-P1Gd/Wqjqq8uduID7MOciZi3jIWvAuyCldpRMjsiEjw='",  # layout.html: light or dark
    "'sha256-HZKPJSciAgytNmPppKy7KO7SB/pqcO/7H5MhOmo7OdY='",  # search-button-field.html, ours
    "'sha256-LF96sWcXccMzvAMeWDn9wNCYHg+MmQlOUvamZq9ACqY='",  # search-button.html
    "'sha256-ymVQCFLrz1wZEVyK7Hz4xFmKL+n6/my1jt/wFORn88g='",  # theme-switcher.html
    "'sha256-mNyD6WQ4vKGmtbf2Mk6RMjMo7k6Ib4wzc6b1fvYgVHE='",  # search.html
    # The three that hold words, in Korean: search-button-field, theme-switcher, search-button.
    "'sha256-xMcIMA3GETl819KFJ3bu+ZajT+ZiDJV2F60Zv/b7d94='",
    "'sha256-k1P6ki9FtQMT/bh8txb4Xo7yk5ZDPvbcQlTTfVQs5TE='",
    "'sha256-yKexarLfYD9Lh/uJj8zXFo71zmRcqUWLKJISpYwqDY4='",
)
HANDLERS = ("toggleFullScreen()", "window.print()")  # of the theme's buttons
# Scripts that a page loads. The rest of _static/live would run cells without being asked.
STATIC = r"_static/(live/toolbar|(?!live/)[\w-]+([./][\w-]+)*)"
FILES = re.compile(rf"(\.\./)*({STATIC}|searchindex)\.js(\?v=\w+)?")


class ScriptParser(InlineScriptParser):
    """Collects also the addresses of scripts, and those of links that are scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        for name, value in attrs:
            address = re.sub(r"[\0-\x20]", "", value or "")  # as a browser reads it
            is_script = tag == "script" and name == "src"
            if is_script or address.lower().startswith("javascript:"):
                self.addresses.append(address)


def page_scripts(app: Sphinx) -> list[str]:
    """What Sphinx and our extensions write into single pages."""
    pages = [*app.env.found_docs, "search"]
    return [WITHOUT_EXCERPTS, *(f"DOCUMENTATION_OPTIONS.pagename = '{page}';" for page in pages)]


def foreign_scripts(page: str, own: set[str]) -> Iterator[str]:
    """What a page runs or loads that is none of the book's.

    Args:
        page: HTML.
        own: hash sources of the book's inline scripts and handlers.
    """
    parser = ScriptParser()
    parser.feed(page)
    parser.close()
    for text in parser.scripts + parser.handlers:
        if hash_source(text) not in own:
            yield f"runs {' '.join(text.split())[:60]!r} ({hash_source(text)})"
    yield from (f"loads {url[:60]!r}" for url in parser.addresses if not FILES.fullmatch(url))


def name_own_scripts(app: Sphinx, error: Exception | None) -> None:
    """Write the hashes for the server; stop the build if a page holds another script."""
    if error or app.builder.format != "html":
        return
    book = Path(app.outdir)
    scripts = sorted({*TEMPLATES, *map(hash_source, page_scripts(app))})
    handlers = sorted(map(hash_source, HANDLERS))
    problems = [
        f"  {file.relative_to(book).as_posix()} {problem}"
        for file in sorted(book.rglob("*.html"))
        for problem in foreign_scripts(file.read_text("utf-8"), {*scripts, *handlers})
    ]
    if problems:
        raise ExtensionError(
            "These scripts are none of the book's (book/extensions/own_scripts.py):\n"
            + "\n".join(problems)
        )
    (book / OWN_SCRIPTS).write_text(json.dumps({"scripts": scripts, "handlers": handlers}), "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    # After live_code (700), which makes the folder of the file, and no_external_requests (900).
    app.connect("build-finished", name_own_scripts, priority=950)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
