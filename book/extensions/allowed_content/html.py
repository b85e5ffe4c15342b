"""The HTML that a page may hold: a few elements without addresses, written so that all agree on it.

What a filter reads in one way and a browser in another is how scripts slip through. So nothing is
repaired or cleaned here: each `<` begins a tag of this grammar, or is named.
"""

import re
from collections.abc import Iterator

# Names that the book's own scripts look for, such as that of the live bar, are not among them.
CLASSES = "dataframe|qkv-(?:backward|query|key|value|output|verdict|right|wrong|open|untranslated)"
ATTRIBUTES = {
    "class": rf"(?:(?:{CLASSES})(?: |$))+",
    "role": "status",
    "lang": "[A-Za-z-]+",
    "scope": "row|col",
    "border": r"\d",
    "colspan": r"\d{1,3}",
    "rowspan": r"\d{1,3}",
    "open": "",
}
PLAIN = "summary p em strong b i code kbd sub sup br hr pre ul ol li caption thead tbody tfoot tr"
CELL = {"scope", "colspan", "rowspan"}
ELEMENTS: dict[str, set[str]] = {
    **{element: set() for element in [*PLAIN.split(), "span"]},
    **{"details": {"open"}, "div": {"role"}, "table": {"border"}, "th": CELL, "td": CELL},
}
EVERYWHERE = {"class", "lang"}
TAG = re.compile(r'</?(?P<element>[a-z]+)(?P<attributes>(?:\s[a-z]+(?:="[^"<>&]*")?)*)\s?/?>')
ATTRIBUTE = re.compile(r'([a-z]+)(?:="([^"]*)")?')


def html_problems(text: str) -> Iterator[str]:
    """What of a piece of HTML no page may hold, as it is written there.

    Args:
        text: a whole output, or what Markdown takes for HTML.
    """
    for start in re.finditer("<", text):
        tag = TAG.match(text, start.start())
        if tag is None or not is_allowed(tag["element"], tag["attributes"]):
            yield text[start.start() : start.start() + 40].partition("\n")[0]


def is_allowed(element: str, attributes: str) -> bool:
    """Whether an element may stand in a page with these attributes, as they are written."""
    allowed = ELEMENTS.get(element)
    return allowed is not None and all(
        name in allowed | EVERYWHERE and re.fullmatch(ATTRIBUTES[name], value) is not None
        for name, value in ATTRIBUTE.findall(attributes)
    )
