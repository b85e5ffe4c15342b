"""Cut a chapter into slides: what stands on each, and what the speaker's notes say."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape

from bs4 import BeautifulSoup, Tag

from qkv.language import gettext
from tools.slides.page import Cell, Chapter, SlideError

HEADINGS = ("h1", "h2", "h3")
COLUMNS = 88  # of code; a longer line is wrapped
MOST_CODE = 15  # rows; longer code stands in the notes, and its output alone on the slide
MOST_ROWS = 15  # of code with its output; where both are longer, the output has a slide of its own
DROPPED = ("a.headerlink", "script", "noscript", "button")
LOCAL = ("#", "../", "./")


@dataclass
class Slide:
    """One slide: its headings, from the section's down, what stands below them, and the notes."""

    headings: list[str]
    below: bool = False
    body: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    kind: str = ""


def cut(chapter: Chapter, explorer: Callable[[str], tuple[str, str]]) -> list[Slide]:
    """The slides of a chapter's core, and a last one with its exercises.

    Args:
        explorer: gives the HTML of the widget of an id, and what it says to try first.
    """
    slides: list[Slide] = []
    headings: list[str] = []  # of the chapter, the section, the part of it
    for cell in chapter.cells:
        headings = headings_after(headings, cell)
        shown, told = contents(cell, explorer)
        if cell.slide_type in ("slide", "subslide"):
            title = headings[:1] if len(headings) == 1 else headings[1:]
            slides.append(Slide(title, below=cell.slide_type == "subslide"))
        if not slides:
            if shown or told:
                message = f"{chapter.name}: the first cell, {cell.id}, starts no slide"
                raise SlideError(f"{message}: give it the slide type 'slide'")
            continue
        place(slides, cell, shown, told)
    if not slides:
        raise SlideError(f"{chapter.name}: no cell of the core starts a slide")
    slides[0].kind = "title"
    slides.append(exercises_slide(chapter))
    return slides


def headings_after(headings: list[str], cell: Cell) -> list[str]:
    """The headings that hold after those of a cell."""
    for block in cell.blocks:
        if block.name in HEADINGS:
            headings = [*headings[: HEADINGS.index(block.name)], clean(block).decode_contents()]
    return headings


def place(slides: list[Slide], cell: Cell, shown: list[str], told: list[str]) -> None:
    """Put what a cell shows on the last slide, or on one more where it has no room."""
    slide = slides[-1]
    slide.notes += told
    if not shown:
        return
    if cell.slide_type == "fragment":
        shown = [f'<div class="fragment">{"".join(shown)}</div>']
    for part in shown:
        if part == NEXT:
            slides.append(Slide(slide.headings, below=True))
            slide = slides[-1]
        else:
            slide.body.append(part)
    if cell.explorers:
        slide.kind = "explorer"


NEXT = ""  # a slide ends here


def contents(cell: Cell, explorer: Callable[[str], tuple[str, str]]) -> tuple[list[str], list[str]]:
    """What of a cell stands on a slide, and what in the notes."""
    if cell.slide_type == "skip":
        return [], []
    if cell.kind == "code":
        return code_contents(cell, explorer)
    shown: list[str] = []
    told: list[str] = []
    for block in cell.blocks:
        if block.name in HEADINGS or is_reading_time(block):
            continue
        hidden = cell.slide_type == "notes" or (block.name == "p" and not cell.show_prose)
        (told if hidden else shown).append(guess(block) if block.name == "details" else html(block))
    return shown, told


def code_contents(
    cell: Cell, explorer: Callable[[str], tuple[str, str]]
) -> tuple[list[str], list[str]]:
    """Code that is not folded, and its output; an explorer, alive."""
    if cell.explorers:
        widgets = [explorer(model) for model in cell.explorers]
        return [widget for widget, _ in widgets], [f"<p>{escape(hint)}</p>" for _, hint in widgets]
    (block,) = cell.blocks
    code = block.select_one("div.cell_input pre")
    if code is not None and code.find_parent("details"):
        code = None
    outputs = [
        child
        for output in block.select("div.cell_output")
        if not output.find_parent("details")
        for child in output.find_all(recursive=False)
    ]
    shown = [html(output, "output") for output in outputs]
    told: list[str] = []
    if code is not None:
        text = re.sub(r"\n{3,}", "\n\n", html(code_box(code)))
        if cell.slide_type == "notes" or (shown and rows(code) > MOST_CODE):
            told.append(text)
        elif shown and rows(code) + sum(map(rows, outputs)) > MOST_ROWS:
            shown = [text, NEXT, *shown]
        else:
            shown = [text, *shown]
    if cell.slide_type == "notes":
        return [], [*told, *shown]
    if not shown:
        message = f"cell {cell.id} shows nothing, as all of it is folded"
        raise SlideError(f"{message}: give it the slide type 'skip'")
    return shown, told


def rows(text: Tag) -> int:
    """The rows that code or printed text takes on a slide; a picture counts as full."""
    if text.name == "img" or text.find("img"):
        return MOST_ROWS
    lines = re.sub(r"\n{3,}", "\n\n", text.get_text().strip("\n")).split("\n")
    return sum(max(1, -(-len(line) // COLUMNS)) for line in lines)


def code_box(code: Tag) -> Tag:
    """The element around code by which its colours hold."""
    box = code.find_parent("div", class_="highlight")
    return box if isinstance(box, Tag) else code


def is_reading_time(block: Tag) -> bool:
    """Whether it says how long the chapter takes to read, below its title."""
    return block.name == "p" and [getattr(c, "name", None) for c in block.contents] == ["em"]


def guess(details: Tag) -> str:
    """A fold as a question, and its answer at the next step."""
    inner = clean(details)
    summary = inner.find("summary")
    question = summary.extract().decode_contents() if isinstance(summary, Tag) else ""
    answer = inner.decode_contents().strip()
    return f'<div class="guess"><p>{question}</p><div class="fragment">{answer}</div></div>'


def html(block: Tag, css_class: str = "") -> str:
    text = str(clean(block))
    return f'<div class="{css_class}">{text}</div>' if css_class else text


def clean(block: Tag) -> Tag:
    """A copy without what leads elsewhere in the book or belongs to a page alone."""
    block = copy.copy(block)
    for selector in DROPPED:
        for tag in block.select(selector):
            tag.decompose()
    for link in block.find_all("a", href=True):
        if str(link["href"]).startswith(LOCAL) or ":" not in str(link["href"]):
            link.unwrap()
    for tag in (block, *block.find_all(True)):
        for attribute in ("id", "loading", "tabindex"):
            del tag[attribute]
        if tag.name == "img":
            tag["src"] = str(tag["src"]).removeprefix("../")
    return block


def images(slides: list[Slide]) -> Iterator[str]:
    """The addresses of the pictures in slides and notes."""
    for slide in slides:
        soup = BeautifulSoup("".join([*slide.body, *slide.notes]), "html.parser")
        yield from (str(image["src"]) for image in soup.find_all("img", src=True))


def exercises_slide(chapter: Chapter) -> Slide:
    """The exercises by their titles, each with its minutes."""
    line = gettext("{title} ({minutes} minutes)")
    items = []
    for heading, minutes in chapter.exercises:
        title = clean(heading).decode_contents().partition(" · ")[2]
        items.append(f"<li>{line.format(title=title, minutes=minutes)}</li>")
    return Slide([gettext("Exercises")], body=[f"<ol>{''.join(items)}</ol>"])
