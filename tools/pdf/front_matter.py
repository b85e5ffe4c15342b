"""What stands before a printed book, and below a chapter's title: its imprint and its contents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bs4 import Tag

from qkv.language import gettext
from tools.pdf.folds import element
from tools.pdf.pages import Page


@dataclass(frozen=True)
class Imprint:
    """What the book says of itself, on its title page and at the top of a chapter."""

    title: str
    author: str
    version: str
    licence: str
    address: str
    language: str


def imprint_line(imprint: Imprint) -> str:
    return gettext("A chapter of {title}, version {version}. {licence}").format(
        title=imprint.title, version=imprint.version, licence=imprint.licence
    )


def title_page(imprint: Imprint) -> Tag:
    version = gettext("Version {version}").format(version=imprint.version)
    lines = [imprint.author, version, imprint.licence, imprint.address]
    title = element("p", imprint.title, class_="pdf-title")
    return element(
        "header", title, *(element("p", line) for line in lines if line), class_="pdf-title-page"
    )


def contents(pages: Sequence[Page], back: Sequence[Tag]) -> Tag:
    """The list of all pages by parts, with the numbers of their pages."""
    nav = element("nav", element("p", gettext("Contents"), class_="pdf-contents-title"))
    nav["class"] = "pdf-contents"
    part = ""
    for page in pages:
        if page.part != part:
            part = page.part
            nav.append(element("p", part, class_="pdf-part"))
        nav.append(_line(page.name, page.title))
    for i, article in enumerate(back):
        line = _line(str(article["id"]), article.select("h1")[0].get_text())
        line["class"] = "pdf-line" if i else "pdf-line pdf-part"
        nav.append(line)
    return nav


def _line(target: str, title: str) -> Tag:
    number = element("span", class_="pdf-page", data_target=target)
    link = element("a", element("span", title), number, href=f"#{target}")
    return element("p", link, class_="pdf-line")
