"""Lead a search for a glossary term to the chapter that introduces it, then to the term's entry.

Sphinx itself leads to the entry alone, and finds a term in English or in Korean, not in both. An
entry names the term in the other language first, in bold, and its chapter last.
"""

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from qkv.explore.start_map import BOOK

CHAPTER = re.compile(r" · \D*(\d+)\D*$")  # "… · chapter 5", "… · 5장"
INTRODUCED = "qkv_introduced"  # with the glossary's page: to each chapter the terms it introduces


def note_terms(app: Sphinx, document: nodes.document) -> None:
    """Give each term of a glossary its names in the search index; keep them for its chapter."""
    chapters: dict[str, list[str]] = {}
    for glossary in document.findall(addnodes.glossary):
        for item in glossary.findall(nodes.definition_list_item):
            names = add_names(item)
            if page := chapter_of(item):
                chapters.setdefault(page, []).extend(names)
    if chapters:
        app.env.metadata[app.env.docname][INTRODUCED] = chapters


def add_names(item: nodes.Element) -> list[str]:
    """Let the index find an entry without what its term says in brackets, and in both languages."""
    names: list[str] = []
    for index in item.findall(addnodes.index):
        kind, term, *rest = index["entries"][0]
        names = list(dict.fromkeys([term, *map(without_brackets, (term, other_name(item)))]))
        index["entries"] = [(kind, name, *rest) for name in names if name]
    return list(filter(None, names))


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


def introduced(env: BuildEnvironment) -> dict[str, list[str]]:
    """To each chapter the terms that it introduces, as the glossary says."""
    found: dict[str, list[str]] = {}
    for data in env.metadata.values():
        found |= data.get(INTRODUCED, {})
    return found


def add_to_chapter(app: Sphinx, document: nodes.document, page: str) -> None:
    """Let the index find a chapter by its terms, as it finds the glossary's entries."""
    if app.builder.format == "html" and (names := introduced(app.env).get(page)):
        entries = [("single", name, "", "main", None) for name in names]
        document.append(addnodes.index(entries=entries))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", note_terms)
    app.connect("doctree-resolved", add_to_chapter)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
