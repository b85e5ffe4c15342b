"""Content-Security-Policy of the book's pages: what a page may load, run and talk to.

A page stands beside a kernel that runs whatever it is sent, so a script that slips into the page
owns the reader's account. The policy lets in only what the server itself delivers, and names by
their hashes those inline scripts of the page that the book's own templates and extensions write.
Source: W3C, Content Security Policy Level 3.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

# Sent with everything, pages or not. An address holds the path that only a signed-in reader knows:
# no other site may learn it from a Referer, load from it, frame it, or keep a handle on its window.
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

# What a script element of no type, or of one of these, holds is run; of any other type, it is data.
SCRIPT_TYPES = {"", "module", "text/javascript", "application/javascript", "text/ecmascript"}
# A name or IPv4 address with or without a port. An IPv6 address has no form in a policy.
HOST = re.compile(r"[a-z0-9]([a-z0-9.-]{0,252}[a-z0-9])?(:\d{1,5})?", re.IGNORECASE)


# In the built book: hashes of its own inline scripts, which book/extensions/own_scripts.py writes.
OWN_SCRIPTS = "_live/own_scripts.json"


class InlineHashes(NamedTuple):
    """Hash sources of what a page runs from its own text."""

    scripts: tuple[str, ...] = ()
    handlers: tuple[str, ...] = ()

    def among(self, own: InlineHashes) -> InlineHashes:
        """Those that are also in `own`: what else is on the page slipped in, and may not run."""
        pairs = zip(self, own, strict=True)
        return InlineHashes(*(tuple(x for x in here if x in known) for here, known in pairs))


NO_INLINE = InlineHashes()


class InlineScriptParser(HTMLParser):
    """Collects what lies between script tags, and what the on… attributes hold."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.handlers: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handlers += [text for name, text in attrs if name.startswith("on") and text]
        if tag == "script":
            given = dict(attrs)
            kind = (given.get("type") or "").strip().lower()
            self.inside = "src" not in given and kind in SCRIPT_TYPES
            if self.inside:
                self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.scripts[-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self.inside = False


def hash_source(text: str) -> str:
    """The hash source that allows exactly this text: 'sha256-…'."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def inline_hashes(page: str) -> InlineHashes:
    """Hash sources of every inline script and on… attribute of a page, sorted, each once.

    Args:
        page: HTML, its line ends "\\n" as in a browser.
    """
    parser = InlineScriptParser()
    parser.feed(page)
    parser.close()
    scripts, handlers = (sorted({*map(hash_source, x)}) for x in (parser.scripts, parser.handlers))
    return InlineHashes(tuple(scripts), tuple(handlers))


@lru_cache(maxsize=256)
def inline_hashes_of_file(path: Path, changed_ns: int) -> InlineHashes:
    """`inline_hashes` of a file; `changed_ns`, its time of change, tells an old answer from new."""
    return inline_hashes(path.read_text(encoding="utf-8", errors="replace"))


def own_inline_hashes(book: Path) -> InlineHashes:
    """Hash sources of the inline scripts that are the book's own; none where no build named them.

    Args:
        book: folder of the built book.
    """
    try:
        own = json.loads((book / OWN_SCRIPTS).read_text(encoding="utf-8"))
        return InlineHashes(tuple(own["scripts"]), tuple(own["handlers"]))
    except (OSError, ValueError, KeyError, TypeError):
        return NO_INLINE


def web_sockets(host: str) -> tuple[str, ...]:
    """Sources for WebSockets to a host; none for a Host header that is no plain host."""
    return (f"ws://{host}", f"wss://{host}") if HOST.fullmatch(host) else ()


def build_policy(inline: InlineHashes = NO_INLINE, hosts: Sequence[str] = ()) -> str:
    """The Content-Security-Policy of one page.

    Args:
        inline: what the page runs from its own text.
        hosts: names under which this server is reached, from the Host header and --origin.
    """
    sockets = [each for host in hosts for each in web_sockets(host)]
    handlers = ["'unsafe-hashes'", *inline.handlers] if inline.handlers else []
    return "; ".join(
        " ".join(directive)
        for directive in (
            # Whatever is not named below is refused: frames, plug-ins, manifests, prefetching.
            ("default-src", "'none'"),
            # Files of this server; blob:, because anywidget imports a widget's code from one; and
            # the page's own inline scripts. 'unsafe-hashes' does for on… attributes what hashes
            # do for scripts: only the listed texts run. Never 'unsafe-inline', which would let
            # the output of a cell run scripts, nor 'unsafe-eval', nor any host.
            ("script-src", "'self'", "blob:", *inline.scripts, *handlers),
            # Themes, KaTeX, CodeMirror and Jupyter's outputs write style attributes, each its own.
            ("style-src", "'self'", "'unsafe-inline'"),
            # Figures come as data:, those that a widget draws as blob:.
            ("img-src", "'self'", "data:", "blob:"),
            ("media-src", "'self'", "data:", "blob:"),
            # Style sheets of CodeMirror and Jupyter carry small fonts in them.
            ("font-src", "'self'", "data:"),
            # The kernel. Safari before 15.4 does not count ws: as 'self', hence its own name.
            ("connect-src", "'self'", *sockets),
            # No other site, and no other port of this machine, may show a page in a frame.
            ("frame-ancestors", "'self'"),
            # The search form; a form that an output writes can send nothing elsewhere.
            ("form-action", "'self'"),
            # An output that writes <base> cannot turn the page's relative addresses elsewhere.
            ("base-uri", "'none'"),
            ("object-src", "'none'"),
        )
    )
