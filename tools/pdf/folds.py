"""Paper has no folds: guesses stand open, and solutions and folded code stand at the end."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

from bs4 import BeautifulSoup, Tag

from qkv.language import gettext
from qkv.notebooks.widget_state import VIEW_MIME
from tools.pdf.pages import Page

MAKER = BeautifulSoup("", "lxml")
LONG = 45  # lines that need not stay on one page: half a page would stay empty above them


@dataclass
class EndMatter:
    """What a page puts at the end: one section for each solution, and for each fold of code."""

    solutions: list[Tag] = field(default_factory=list)
    code: list[Tag] = field(default_factory=list)


def element(name: str, *children: str | Tag, **attributes: str) -> Tag:
    """A new tag; `class_` and `data_…` stand for the names that Python cannot have."""
    names = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    tag = MAKER.new_tag(name, attrs=names)
    tag.extend(children)
    return tag


def reference(target: str, message: str, **values: object) -> Tag:
    """A link with the number of the page that it leads to, which is filled in when it is known.

    Args:
        message: what the link says, with a field {page}, and fields for the values.
    """
    before, after = message.format(page="\0", **values).split("\0")
    number = element("span", class_="pdf-page", data_target=target)
    return element("a", before, number, after, href=f"#{target}", class_="pdf-reference")


def unfold(page: Page) -> EndMatter:
    """Open the page's folds in place, but for solutions and code, which go to the end.

    Args:
        page: its article changes. Where something stood, a line says on which page it is now.
    """
    end = EndMatter()
    for fold in page.article.select("details.qkv-collapsible"):
        cell = fold.find_parent(class_="cell")
        if cell is None or fold.select(f'script[type="{VIEW_MIME}"]'):
            raise ValueError(f"{page.file}: a fold that holds an explorer, or is no cell's")
        if "tag_solution" in cell.get_attribute_list("class"):
            _move_solution(fold, cell, end)
        else:
            _move_code(fold, cell, end)
    for fold in page.article.select("details"):
        _open(fold)
    for block in [*page.article.select(".cell_input"), *end.solutions, *end.code]:
        _mark_length(block)
    return end


def _move_solution(fold: Tag, cell: Tag, end: EndMatter) -> None:
    exercise = cell.find_parent("section")
    assert exercise is not None
    name = f"solution-{cell['id']}"
    heading = copy.copy(exercise.select("h3")[0])
    heading.name = "h3"
    back = element(
        "p", reference(str(exercise["id"]), gettext("The question: page {page}")), class_="pdf-note"
    )
    _take_summary(fold)
    end.solutions.append(
        element("section", heading, back, *_body(fold), class_="pdf-entry", id=name)
    )
    fold.replace_with(
        element("p", reference(name, gettext("Solution: page {page}")), class_="pdf-note")
    )


def _move_code(fold: Tag, cell: Tag, end: EndMatter) -> None:
    here, name = f"from-{cell['id']}", f"code-{cell['id']}"
    named = {"number": len(end.code) + 1, "title": _take_summary(fold).get_text()}
    back = reference(here, gettext("Code {number}: {title}, from page {page}"), **named)
    title = element("p", back, class_="pdf-code-title")
    end.code.append(element("div", title, *_body(fold), class_="pdf-entry", id=name))
    line = reference(name, gettext("Code {number}: {title}, page {page}"), **named)
    fold.replace_with(element("p", line, class_="pdf-note", id=here))


def _open(fold: Tag) -> None:
    """A guess, or an aside: its title, then what was inside, in a box."""
    summary = _take_summary(fold)
    summary.name = "p"
    summary["class"] = "pdf-question"
    fold.insert(0, summary)
    fold.name = "div"
    _add_class(fold, "pdf-fold")


def _take_summary(fold: Tag) -> Tag:
    return fold.select("summary")[0].extract()


def _body(fold: Tag) -> list[Tag]:
    return [child.extract() for child in list(fold.children) if isinstance(child, Tag)]


def _mark_length(block: Tag) -> None:
    lines = sum(pre.get_text().strip().count("\n") + 1 for pre in block.select("pre"))
    if lines > LONG:
        _add_class(block, "pdf-long")


def _add_class(tag: Tag, name: str) -> None:
    tag["class"] = " ".join([*tag.get_attribute_list("class"), name])
