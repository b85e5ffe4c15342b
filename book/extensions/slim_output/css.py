"""Drop the rules of third-party style sheets that no page and no script of the book can use.

Found anew in each build: a rule stays when every class it names occurs as a word in some page or
script, so one that a script sets at run time stays too. KaTeX's sheet stays whole: a formula that a
live cell prints may need any of it. So do ours: the scripts beside them put names of classes
together.
"""

import hashlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import tinycss2
from tinycss2.ast import LiteralToken, Node

SHEETS = (
    *(f"_static/styles/{name}.css" for name in ("bootstrap", "pydata-sphinx-theme")),
    *("_static/styles/sphinx-book-theme.css", "_static/mystnb.*.css", "_static/pygments.css"),
    "_static/copybutton.css",
)
WORD = re.compile(r"[A-Za-z_-][\w-]*")
NESTING = ("media", "supports")  # their braces hold other rules


def drop_unused_rules(book: Path, cache: Path) -> None:
    """Rewrite the built book's copies; what was made is kept by what it was made of."""
    cache.mkdir(parents=True, exist_ok=True)
    files = [*book.rglob("*.html"), *book.rglob("*.js")]
    words = {word for file in files for word in WORD.findall(file.read_text(encoding="utf-8"))}
    for sheet in (sheet for pattern in SHEETS for sheet in book.glob(pattern)):
        text = sheet.read_text(encoding="utf-8")
        known = words.intersection(WORD.findall(text))
        slim = cache / hashlib.sha256(repr((text, sorted(known))).encode()).hexdigest()
        if not slim.exists():
            slim.write_text(without_unused_rules(text, known), encoding="utf-8")
        shutil.copyfile(slim, sheet)


def without_unused_rules(sheet: str, words: set[str]) -> str:
    """Return the sheet without the selectors that name a class outside `words`."""
    rules = tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True)
    return str(tinycss2.serialize(list(_used_rules(rules, words))))


def _used_rules(rules: list[Node], words: set[str]) -> Iterator[Node]:
    for rule in rules:
        if rule.type == "at-rule" and rule.lower_at_keyword in NESTING:
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            rule.content = list(_used_rules(inner, words))
            if rule.content:
                yield rule
        elif rule.type == "qualified-rule":
            selectors = [one for one in _selectors(rule.prelude) if _classes(one) <= words]
            if selectors:
                comma = LiteralToken(0, 0, ",")
                rule.prelude = [token for one in selectors for token in (comma, *one)][1:]
                yield rule
        else:
            yield rule


def _selectors(prelude: list[Node]) -> list[list[Node]]:
    """Split at the commas; those in brackets, as in `:not(.a,.b)`, lie in one token with them."""
    selectors: list[list[Node]] = [[]]
    for token in prelude:
        if token == ",":
            selectors.append([])
        else:
            selectors[-1].append(token)
    return selectors


def _classes(tokens: list[Node]) -> set[str]:
    """The names behind a dot, also in the brackets of `:not(…)` and the like."""
    pairs = zip(["", *tokens], tokens, strict=False)
    names = {token.value for before, token in pairs if before == "." and token.type == "ident"}
    nested = [token.arguments for token in tokens if token.type == "function"]
    return names.union(*map(_classes, nested))
