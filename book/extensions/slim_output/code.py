"""Take the marks off those tokens of code that look like plain text: names, brackets, commas.

Pygments puts a <span> around every token. In the book's two styles half of them have the colour
that code has anyway; without them a page is smaller, and a browser has less to lay out.
"""

import re
from pathlib import Path

SHEET = "_static/pygments.css"
RULE = re.compile(r"(html\[[^]]*\]) \.highlight( \.\w+)? *\{([^}]*)\}")
BLOCK = re.compile(r'<div class="highlight"><pre>.*?</pre>', re.DOTALL)


def drop_plain_tokens(book: Path) -> None:
    """Rewrite the pages of a built book."""
    plain = plain_classes((book / SHEET).read_text(encoding="utf-8"))
    token = re.compile(rf'<span class="(?:{"|".join(sorted(plain)) or "(?!)"})">([^<]*)</span>')
    for page in book.rglob("*.html"):
        before = page.read_text(encoding="utf-8")
        after = BLOCK.sub(lambda block: token.sub(r"\1", block[0]), before)
        if after != before:
            page.write_text(after, encoding="utf-8")


def plain_classes(sheet: str) -> set[str]:
    """The classes of tokens that only have the colour of their block, in every style."""
    rules = [
        (style, token.strip(" ."), declarations(body)) for style, token, body in RULE.findall(sheet)
    ]
    base = {style: body["color"] for style, token, body in rules if not token}
    marked = {token for style, token, body in rules if body != {"color": base[style]}}
    return {token for _, token, _ in rules} - marked - {""}


def declarations(body: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in body.split(";") if line.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}
