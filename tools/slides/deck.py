"""A deck as a page: reveal.js around the slides, everything that it loads beside it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from qkv.fonts import FONTS
from qkv.language import get_language, gettext
from tools.slides.cut import Slide

STYLES = (
    *("katex/katex.css", "pygments.css", "explorers.css", "reveal/reset.css"),
    *("reveal/reveal.css", "site.css", "slides.css"),
)
FONT_FACES = "font_faces.css"  # of a language that needs a font
SCRIPTS = ("site.js", "explorers.js", "reveal/reveal.js", "reveal/notes.js", "slides.js")


def page(title: str, body: str, scripts: Iterable[str] = ()) -> str:
    language = get_language()
    sheets = (*STYLES, FONT_FACES) if language in FONTS else STYLES
    styles = "".join(f'<link rel="stylesheet" href="_static/{name}">\n' for name in sheets)
    loaded = "".join(f'<script defer src="_static/{name}"></script>\n' for name in scripts)
    return (
        f'<!doctype html>\n<html lang="{language}" data-theme="light">\n'
        '<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)}</title>\n<link rel="icon" href="_static/favicon.svg">\n'
        f"{styles}{loaded}</head>\n{body}\n</html>\n"
    )


def deck_page(number: int, title: str, slides: list[Slide], address: str) -> str:
    """The page of one deck.

    Args:
        address: of the chapter in the book; "" for no link.
    """
    sections = [section(slide, number, address) for slide in slides]
    columns: list[list[str]] = []
    for text, slide in zip(sections, slides, strict=True):
        if slide.below and columns:
            columns[-1].append(text)
        else:
            columns.append([text])
    joined = "\n".join(
        f"<section>\n{chr(10).join(column)}\n</section>" if len(column) > 1 else column[0]
        for column in columns
    )
    body = f'<body>\n<div class="reveal"><div class="slides">\n{joined}\n</div></div>\n</body>'
    return page(title, body, SCRIPTS)


def section(slide: Slide, number: int, address: str) -> str:
    """One slide. What a chapter's title has above it are its number and the way to its page."""
    lines = []
    if slide.kind == "title":
        lines.append(f'<p class="chapter">{chapter_line(number, address)}</p>')
    names = ["h1"] if slide.kind == "title" else ["h2", "h3"]
    pairs = zip(names, slide.headings, strict=False)
    lines += [f"<{name}>{text}</{name}>" for name, text in pairs]
    lines += slide.body
    if slide.notes:
        lines.append(f'<aside class="notes">{"".join(slide.notes)}</aside>')
    css_class = f' class="{slide.kind}"' if slide.kind else ""
    return f"<section{css_class}>\n{chr(10).join(lines)}\n</section>"


def chapter_line(number: int, address: str) -> str:
    text = gettext("The Runnable Transformer · Chapter {number}").format(number=number)
    return f'<a href="{escape(address)}">{text}</a>' if address else text


def index_page(decks: list[tuple[str, str, int]], address: str) -> str:
    """The list of the decks, (file, title, slides), and how they are shown."""
    title = gettext("Slides of The Runnable Transformer")
    line = gettext("{title}: {count} slides")
    items = "".join(
        f'<li value="{int(name[:2])}"><a href="{name}">'
        f"{line.format(title=title, count=count)}</a></li>\n"
        for name, title, count in decks
    )
    keys = gettext(
        "Space goes on, Shift and Space go back. S opens the speaker's view with the notes, "
        "O the overview, F the full screen. Behind ?print-pdf in the address a deck can be printed."
    )
    book = gettext("The book")
    link = f'<p><a href="{escape(address)}">{book}</a></p>' if address else ""
    body = f"<main>\n<h1>{title}</h1>\n<ol>\n{items}</ol>\n<p>{keys}</p>\n{link}\n</main>"
    return page(title, f'<body class="index">\n{body}\n</body>')
