"""Join pages into one HTML document to be printed: ids made unique, links between pages kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from urllib.parse import unquote, urljoin

from bs4 import Tag

from qkv.language import gettext
from tools.pdf.folds import element, unfold
from tools.pdf.front_matter import Imprint, contents, imprint_line, title_page
from tools.pdf.pages import Page
from tools.web_fonts import font_faces

STYLE = Path(__file__).with_name("print.css")
DOCUMENT = """<!doctype html>
<html lang="{language}" data-theme="light">
<head>
<meta charset="utf-8">
<title>{title}</title>
<meta name="author" content="{author}">
{links}
<style>{style}</style>
{scripts}
</head>
<body class="pdf">{body}</body>
</html>
"""


def whole_book(pages: Sequence[Page], imprint: Imprint) -> str:
    """All pages behind a title and the contents; solutions, then folded code, at the end."""
    ends = [unfold(page) for page in pages]
    names = {page.file: page for page in pages}
    for page in pages:
        _number_heading(page)
    back = [
        _end_article(gettext("Solutions"), "solutions", pages, [end.solutions for end in ends]),
        _end_article(gettext("Folded code"), "folded-code", pages, [end.code for end in ends]),
    ]
    back = [article for article in back if article.select(".pdf-entry")]
    for page in pages:
        _finish(page, names, [page.article])
    for article in back:
        for group in article.select("[data-page]"):
            _finish(next(page for page in pages if page.name == group["data-page"]), names, [group])
    front = [title_page(imprint), contents(pages, back)]
    articles = [*front, *(page.article for page in pages), *back]
    return _document(pages, articles, imprint.title, imprint)


def one_chapter(page: Page, bibliography: Page | None, imprint: Imprint) -> str:
    """One chapter, with its solutions, its folded code and the works that it cites at the end."""
    end = unfold(page)
    _number_heading(page)
    heading = page.article.select("h1")[0]
    heading.insert_after(element("p", imprint_line(imprint), class_="pdf-imprint"))
    for title, name, entries in (
        (gettext("Solutions"), "solutions", end.solutions),
        (gettext("Folded code"), "folded-code", end.code),
    ):
        if entries:
            page.article.append(element("section", element("h2", title), *entries, id=name))
    known = {page.file: page}
    pages = [page]
    if bibliography is not None:
        cited = _cited(page, bibliography)
        if cited:
            known[bibliography.file] = bibliography
            pages.append(bibliography)
    for one in pages:
        _finish(one, known, [one.article])
    for one in pages[1:]:  # goes on where the chapter ends, under its title
        one.article["class"] = f"{one.article['class']} pdf-cited"
        one.article["style"] = page.article["style"]
    title = f"{page.title} · {imprint.title}"
    return _document(pages, [one.article for one in pages], title, imprint)


def _cited(page: Page, bibliography: Page) -> bool:
    """Keep, of the bibliography, the works that the page cites; whether there are any."""
    links = (page.resolve(str(link["href"])) for link in page.article.select("a[href]"))
    ids = {fragment for file, fragment in links if file == bibliography.file}
    for work in bibliography.article.select("li.citation"):
        if work.get("id") not in ids:
            work.decompose()
    for heading in bibliography.article.select("h1"):
        heading.name = "h2"
    return bool(bibliography.article.select("li.citation"))


def _number_heading(page: Page) -> None:
    """The chapter's number, which the sidebar has, before its title."""
    number = re.match(r"\d+ · ", page.title)
    if number:
        page.article.select("h1")[0].insert(0, number[0])


def _end_article(title: str, name: str, pages: Sequence[Page], groups: Iterable[list[Tag]]) -> Tag:
    article = element("article", element("h1", title), class_="bd-article pdf-end", id=name)
    for page, entries in zip(pages, groups, strict=True):
        if entries:
            heading = element("h2", page.title)
            article.append(element("section", heading, *entries, data_page=page.name, id=name))
    return article


def _finish(page: Page, names: dict[str, Page], roots: list[Tag]) -> None:
    """Make the ids of a page unique, and lead its links into the document."""
    for root in roots:
        for attribute in ("id", "data-target"):
            for tag in [root, *root.find_all(None, {attribute: True})]:
                if attribute in tag.attrs:
                    tag[attribute] = _unique(page, str(tag[attribute]))
        for link in root.find_all("a", href=True):
            _lead(link, page, names)
    if page.article in roots:
        page.article["id"] = page.name
        page.article["class"] = "bd-article qkv-embedded pdf-article"
        page.article["style"] = f"page: p-{page.name}"
        for view in page.article.select('script[type$="widget-view+json"]'):
            view.insert_after(_address_line(page))


def _unique(page: Page, name: str) -> str:
    return f"{name}.{page.name}"


def _lead(link: Tag, page: Page, names: dict[str, Page]) -> None:
    target = str(link["href"])
    if re.match(r"\w+:", target):
        return
    file, fragment = page.resolve(target)
    there = names.get(file)
    if there is not None:
        link["href"] = f"#{_unique(there, unquote(fragment)) if fragment else there.name}"
    elif page.address:
        link["href"] = urljoin(page.address, target)
    else:
        link.unwrap()  # another chapter's page, and the book has no public address


def _address_line(page: Page) -> Tag:
    text = gettext("Move it on the page {address}").format(address=page.address or page.file)
    return element("p", text, class_="pdf-note pdf-address")


def _document(pages: Sequence[Page], articles: Iterable[Tag], title: str, imprint: Imprint) -> str:
    styles = dict.fromkeys(style for page in pages for style in page.styles)
    scripts = dict.fromkeys(script for page in pages for script in page.scripts)
    heads = "".join(
        f'@page p-{page.name} {{ @top-right {{ content: "{_quoted(page.title)}"; }} }}\n'
        for page in pages
    )
    return DOCUMENT.format(
        language=escape(imprint.language),
        title=escape(title),
        author=escape(imprint.author),
        links="\n".join(f'<link rel="stylesheet" href="{escape(style)}">' for style in styles),
        style=font_faces(imprint.language) + STYLE.read_text("utf-8") + heads,
        scripts="\n".join(f'<script src="{escape(script)}" defer></script>' for script in scripts),
        body="\n".join(str(article) for article in articles),
    )


def _quoted(text: str) -> str:
    """Text inside quotes of a style sheet that stands in a page."""
    return "".join(f"\\{ord(c):x} " if c in '"\\<>&\n' else c for c in text)
