"""What the glossary says of each term: its names in both languages, the chapter that introduces it.

A definition names the term in the other language first, in bold, and the chapter last. A search for
either name leads to the chapter, then to the term's entry: Sphinx itself leads to the entry alone,
and knows one of the names.
"""

import re
from dataclasses import dataclass
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from qkv.explore.start_map import BOOK

CHAPTER = re.compile(r" · \D*(\d+)\D*$")  # "… · chapter 5", "… · 5장"
TERMS = "qkv_terms"  # kept with the glossary's page


@dataclass(frozen=True)
class Term:
    """A term by its names, and the page of its chapter: none, if one should know it before."""

    names: tuple[str, ...]
    page: str


def note_terms(app: Sphinx, document: nodes.document) -> None:
    """Keep what a glossary says of its terms; give each its names in the search index."""
    terms = {}
    for glossary in document.findall(addnodes.glossary):
        for item in glossary.findall(nodes.definition_list_item):
            page = chapter_of(item)
            for index in item.findall(addnodes.index):
                kind, term, *rest = index["entries"][0]
                names = (term, without_brackets(term), without_brackets(other_name(item)))
                terms[term] = Term(tuple(dict.fromkeys(filter(None, names))), page)
                index["entries"] = [(kind, name, *rest) for name in terms[term].names]
    if terms:
        app.env.metadata[app.env.docname][TERMS] = terms


def other_name(item: nodes.Element) -> str:
    """What a definition begins with, if that is in bold."""
    for definition in item.findall(nodes.definition):
        bold = next(iter(definition.findall(nodes.strong)), None)
        name = str(bold.astext()) if bold else ""
        if definition.astext().startswith(name):
            return name
    return ""


def without_brackets(name: str) -> str:
    return name.partition("(")[0].strip()


def chapter_of(item: nodes.Element) -> str:
    """The page of the chapter that an entry names last; nothing if it names none."""
    found = CHAPTER.search(" ".join(item.astext().split()))
    pages = {str(chapter.number): f"chapters/{chapter.notebook}" for chapter in BOOK}
    return pages.get(found[1], "") if found else ""


def glossary_terms(env: BuildEnvironment) -> dict[str, Term]:
    """Every term of the book's glossary, by its name there."""
    found: dict[str, Term] = {}
    for data in env.metadata.values():
        found |= data.get(TERMS, {})
    return found


def add_to_chapter(app: Sphinx, document: nodes.document, page: str) -> None:
    """Let the index find a chapter by the terms that it introduces."""
    names = [
        n for term in glossary_terms(app.env).values() if term.page == page for n in term.names
    ]
    if app.builder.format == "html" and names:
        entries = [("single", name, "", "main", None) for name in names]
        document.append(addnodes.index(entries=entries))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", note_terms)
    app.connect("doctree-resolved", add_to_chapter)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
