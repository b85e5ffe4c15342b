"""Drop the rules of Bootstrap's style sheet that no page and no script of the book can use.

Found anew in each build: a rule stays when every class it names occurs as a word in some page or
script, so one that a script sets at run time stays too.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

SHEET = "_static/styles/bootstrap.css"
CLASS = re.compile(r"\.(-?[A-Za-z_](?:[\w-]|\\.)*)")
WORD = re.compile(r"[A-Za-z_-][\w-]*")
# Their braces hold other rules, to be looked into one by one.
NESTED = ("@media", "@supports")


def purge(sheet: str, used: set[str]) -> str:
    """Return the sheet without the selectors that name a class outside `used`."""
    kept = []
    for head, body in _blocks(sheet):
        if head.startswith(NESTED):
            if inner := purge(body, used):
                kept.append(f"{head}{{{inner}}}")
        elif head.startswith("@") or not body:
            kept.append(f"{head}{{{body}}}" if body else head)
        else:
            selectors = [one for one in _selectors(head) if set(CLASS.findall(one)) <= used]
            if selectors:
                kept.append(f"{','.join(selectors)}{{{body}}}")
    return "".join(kept)


def _blocks(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield (selector or at-rule, what its braces hold); without braces, nothing."""
    sheet = re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)
    start = position = 0
    while (match := re.compile(r"[{;]").search(sheet, position)) is not None:
        head = sheet[start : match.start()].strip()
        if match[0] == ";":
            yield head + ";", ""
            start = position = match.end()
            continue
        depth, end = 1, match.end()
        for brace in re.compile(r"[{}]").finditer(sheet, end):
            depth += 1 if brace[0] == "{" else -1
            end = brace.end()
            if depth == 0:
                break
        yield head, sheet[match.end() : end - 1]
        start = position = end


def _selectors(head: str) -> list[str]:
    """Split at the commas that stand outside brackets, as in `:not(.a,.b)`."""
    return [one.strip() for one in re.split(r",(?![^()]*\))", head)]


def purge_bootstrap(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    book = Path(app.outdir)
    files = [*book.rglob("*.html"), *book.rglob("*.js")]
    used = {word for file in files for word in WORD.findall(file.read_text(encoding="utf-8"))}
    sheet = book / SHEET
    sheet.write_text(purge(sheet.read_text(encoding="utf-8"), used), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", purge_bootstrap, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
