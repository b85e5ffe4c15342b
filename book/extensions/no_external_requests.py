"""Stop the build when a page would load anything from another host.

What is read is the finished book, every page, sheet and script of it, so it makes no difference
whether an address came from the theme, an extension, a notebook's output or our own text. A link
that a reader may choose to follow loads nothing: ``<a href>`` to a paper is fine.

The browser tests see only what Chromium asks for as a page opens, where there is a Chromium. This
also sees what a click, a printer or another browser would ask for, and stops a `make book`.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

OUTSIDE = re.compile(r"\s*(?:(?:https?|wss?|ftp):)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?\s*((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)
IN_SCRIPT = re.compile(
    r"""\b(?:import|from|importScripts|fetch|Worker|WebSocket)\s*\(?\s*["'`]"""
    r"""((?:https?:|wss?:)?//[^"'`\s]+)"""
)
# Attributes by which an element fetches something without being asked; href, for some elements.
LOADING = ("src", "srcset", "poster", "data")
LOADING_BY_HREF = ("base", "feimage", "image", "use")
# <link> tells a search engine or a reader something with these, and fetches nothing.
QUIET_LINKS = {"alternate", "author", "canonical", "help", "index", "license"}
QUIET_LINKS |= {"next", "prev", "search"}


class LoadedAddresses(HTMLParser):
    """Collects the outside addresses that a page loads by itself."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.addresses: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        for name in LOADING:
            self._add_outside(values.get(name, ""), several=name == "srcset")
        quiet = set(values.get("rel", "").lower().split()) & QUIET_LINKS
        if tag in LOADING_BY_HREF or (tag == "link" and not quiet):
            for name in ("href", "xlink:href"):
                self._add_outside(values.get(name, ""))
        if tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
            self._add_outside(values.get("content", "").partition("=")[2])
        self.addresses += IN_STYLE.findall(values.get("style", ""))
        if tag == "script":
            kind = values.get("type", "")
            self._inside = "script" if not kind or kind == "module" or "javascript" in kind else ""
        elif tag == "style":
            self._inside = "style"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.addresses += IN_STYLE.findall(data)
        elif self._inside == "script":
            self.addresses += IN_SCRIPT.findall(data)

    def _add_outside(self, address: str, several: bool = False) -> None:
        for one in address.split(",") if several else [address]:
            if OUTSIDE.match(one):
                self.addresses.append(one.split()[0])


def loaded_addresses(text: str, kind: str) -> list[str]:
    """The outside addresses in a file's text, each once; its kind is its suffix."""
    if kind in (".html", ".svg"):
        page = LoadedAddresses()
        page.feed(text)
        page.close()
        return list(dict.fromkeys(page.addresses))
    return list(dict.fromkeys((IN_STYLE if kind == ".css" else IN_SCRIPT).findall(text)))


def outside_loads(book: Path, cache: Path | None = None) -> Iterator[tuple[str, str]]:
    """Yield (file, address) for everything in a built book that comes from another host.

    Args:
        book: its folder.
        cache: a file that keeps what was found, by content: what has not changed is read once.
    """
    before = json.loads(cache.read_text("utf-8")) if cache and cache.exists() else {}
    found = {}
    for file in sorted(book.rglob("*")):
        if file.suffix not in (".html", ".css", ".js", ".mjs", ".svg"):
            continue
        content = file.read_bytes()
        key = hashlib.sha256(content).hexdigest() + file.suffix
        if key not in before:
            before[key] = loaded_addresses(content.decode("utf-8"), file.suffix)
        found[key] = before[key]
        for address in found[key]:
            yield file.relative_to(book).as_posix(), address
    if cache:
        cache.write_text(json.dumps(found), "utf-8")


def refuse_outside_loads(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    loads = outside_loads(Path(app.outdir), Path(app.doctreedir) / "loaded_addresses.json")
    problems = [f"  {file} loads {address}" for file, address in loads]
    if problems:
        raise ExtensionError(
            "The book must ask no other host for anything:\n" + "\n".join(problems)
        )


def setup(app: Sphinx) -> dict[str, Any]:
    # Last of all: after every extension has copied its files into the book.
    app.connect("build-finished", refuse_outside_loads, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
