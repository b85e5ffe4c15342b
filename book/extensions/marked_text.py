"""Mark in the finished pages what a browser cannot know: Korean, and where a line may break.

Each gets a <span> around it, so that a screen reader speaks Korean and a font draws it as Korean. A
page that is Korean as a whole says so once, in its <html>. What a reader reads, finds and copies is
the same text.
"""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

# A browser breaks a line after the hyphen of "attention-1".
EXERCISE = r"(?<=\bExercise )[\w-]+-\d+\b|(?<=[\uac00-\ud7a3] )[a-z_]+-\d+"
# Syllables and letters; words of Korean beside each other are one run.
HANGUL = r"[\uac00-\ud7a3\u3131-\u318e\u1100-\u11ff]"
KOREAN = rf"{HANGUL}+(?:[\s.,!?-]+{HANGUL}+)*"
# What `print(stored_result(…))` says of a measurement: the one long line among printed tables.
MEASURED = r"(?:Measured on )?\d{4}-\d\d-\d\d \([^<]*?\)[^\n<]*\npython [^\n<]+"
# Its text is Korean, and needs no mark.
KOREAN_PAGE = re.compile(r"<html\b[^<>]*\slang=[\"']ko[\"']")
# Markup, and elements whose text is no prose of the page or holds no <span>.
LEFT_ALONE = (
    r"<!--.*?-->",
    r"<(?P<tag>script|style|title|textarea|svg|annotation)\b.*?</(?P=tag)\s*>",
    r"<(?P<marked>(?!html\b)\w+)\b[^<>]*\slang=[\"']ko\b[^<>]*>.*?</(?P=marked)\s*>",
    r"""<(?:"[^"]*"|'[^']*'|[^"'>])*>""",
)
PART = re.compile(
    "|".join(
        [
            *LEFT_ALONE,
            f"(?P<korean>{KOREAN})",
            f"(?P<exercise>{EXERCISE})",
            f"(?P<measured>{MEASURED})",
        ]
    ),
    re.DOTALL,
)
SPANS = {
    "korean": '<span lang="ko">',
    "exercise": '<span class="qkv-nowrap">',
    "measured": '<span class="qkv-wrap">',
}


def mark_text(html: str) -> str:
    """The page with each of the marks around its text."""
    spans = SPANS | {"korean": ""} if KOREAN_PAGE.search(html) else SPANS

    def mark(match: re.Match[str]) -> str:
        span = spans.get(match.lastgroup or "")
        return f"{span}{match[0]}</span>" if span else match[0]

    return PART.sub(mark, html)


def mark_pages(app: Sphinx, error: Exception | None) -> None:
    """Mark every page of a built HTML book in place; leave any other build alone."""
    if error or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        before = page.read_text(encoding="utf-8")
        after = mark_text(before)
        if after != before:
            page.write_text(after, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", mark_pages, priority=300)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
