"""Give the pages of a translation the anchors of the English ones: one link holds in each language.

docutils makes the id of a section from its title, and Sphinx that of a term of the glossary from
the term. In another language they make it from the English title or term in the same place, which
is read from the English source. A page with other headings than its English one is a warning, and
so stops the build.
"""

import json
import os
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from lesson_facts import chapter_of, name_of
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from measured_results import RESULTS
from myst_nb.sphinx_ import Parser as NotebookParser
from myst_parser.parsers.mdit import create_md_parser
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.parsers import RSTParser
from sphinx.util.logging import getLogger
from sphinx.util.nodes import make_id

from qkv.language import ENGLISH, using_language

LOGGER = getLogger(__name__)
# The folder of the English sources, which are laid out like those of this edition.
SOURCES = "QKV_ENGLISH_SOURCES"
RST_TITLE = re.compile(r"^(\S.*)\n([=\-~^\"'])\2+$", re.MULTILINE)


class Names(NamedTuple):
    """What the anchors of a page are made of, in the order of the page."""

    titles: list[tuple[str, str]]  # each with its level: "h2"
    terms: list[str]


def names_of(text: str, suffix: str, env: BuildEnvironment, sources: Path) -> Names:
    """The titles and terms of a page's source, read as the build reads it.

    Args:
        sources: the folder in which the results stand that the page includes.
    """
    if suffix == ".rst":
        found = RST_TITLE.findall(text)
        return Names([(line, title.replace("`", "")) for title, line in found], [])
    if suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    else:
        texts = [text]
    parser = create_md_parser(env.myst_config, RendererHTML)  # type: ignore[attr-defined]
    names = Names([], [])
    for tokens in map(parser.parse, texts):
        for i, token in enumerate(tokens):
            if token.type == "heading_open":
                title = "".join(words(tokens[i + 1].children or []))
                names.titles.append((token.tag, title))
            elif token.type == "fence" and token.info.strip() == "{glossary}":
                names.terms.extend(re.findall(r"^(?![ :])(.+)$", token.content, re.MULTILINE))
            elif token.type == "fence" and token.info.startswith("{results} "):
                result = Path(sources, RESULTS, f"{token.info.split()[1]}.md")
                included = names_of(result.read_text(encoding="utf-8"), ".md", env, sources)
                names.titles.extend(included.titles)
    return names


def words(tokens: list[Token]) -> Iterator[str]:
    """What docutils takes for the text of a title."""
    for token in tokens:
        if token.type == "myst_role" and token.meta["name"] == "chapter":
            yield name_of(chapter_of(token.content))
        elif token.type not in ("html_inline", "image"):
            yield " " if token.type == "softbreak" else token.content


def normalized(title: str) -> str:
    return str(nodes.fully_normalize_name(title))


class SameAnchors:
    """Mixed into a parser: it numbers and names the sections of a page as the English page does."""

    def parse(self, inputstring: str, document: nodes.document) -> None:
        env = document.settings.env
        path = Path(env.doc2path(env.docname))
        sources = Path(os.environ[SOURCES])
        source = sources / path.relative_to(env.srcdir)
        env.note_dependency(str(source))
        with using_language(ENGLISH):
            english = names_of(source.read_text(encoding="utf-8"), source.suffix, env, sources)
        own = names_of(inputstring, path.suffix, env, Path(env.srcdir))
        if [level for level, _ in own.titles] != [level for level, _ in english.titles]:
            found, expected = (
                " · ".join(f"{level} {title}" for level, title in names.titles)
                for names in (own, english)
            )
            text = "same_anchors: headings must be those of the English page, %s, got %s"
            LOGGER.warning(text, expected, found, location=env.docname)
        titles: dict[str, deque[str]] = {}
        for (_, title), (_, original) in zip(own.titles, english.titles, strict=False):
            titles.setdefault(normalized(title), deque()).append(normalized(original))
        set_id = document.set_id

        def set_id_by_title(node: nodes.Element, *more: Any, **named: Any) -> str:
            """As docutils does, with the English title in the place of the node's."""
            names = node["names"]
            waiting = titles.get(names[0]) if names else None
            if not isinstance(node, nodes.section) or not waiting:
                return str(set_id(node, *more, **named))
            node["names"] = [waiting.popleft()]
            try:
                return str(set_id(node, *more, **named))
            finally:
                node["names"] = names

        document.set_id = set_id_by_title
        try:
            super().parse(inputstring, document)  # type: ignore[misc]
        finally:
            del document.set_id  # the document is stored, and a function cannot be
        name_terms(env, document, english.terms)


def name_terms(env: BuildEnvironment, document: nodes.document, english: list[str]) -> None:
    """Give the terms of a glossary the ids of the English ones, also where they are looked up."""
    terms = [
        term for one in document.findall(addnodes.glossary) for term in one.findall(nodes.term)
    ]
    if len(terms) != len(english):
        text = "same_anchors: the glossary must have %d terms, as in English, got %d"
        LOGGER.warning(text, len(english), len(terms), location=env.docname)
        return
    domain = env.get_domain("std")
    for term in terms:
        document.ids.pop(term["ids"][0])
    for term, original in zip(terms, english, strict=True):
        term["ids"] = [make_id(env, document, "term", original)]
        document.ids[term["ids"][0]] = term
        place = (env.docname, term["ids"][0])
        domain.data["objects"]["term", term.astext()] = place
        domain.data["terms"][term.astext().lower()] = place
        for index in term.findall(addnodes.index):  # the search leads there
            index["entries"] = [
                (kind, text, place[1], *m) for kind, text, _, *m in index["entries"]
            ]


class SameAnchorsNotebookParser(SameAnchors, NotebookParser):  # type: ignore[misc]
    """Of chapters and Markdown pages."""


class SameAnchorsRstParser(SameAnchors, RSTParser):
    """Of the library page."""


def replace_parsers(app: Sphinx, _: object) -> None:
    if app.config.language != ENGLISH:
        app.add_source_parser(SameAnchorsNotebookParser, override=True)
        app.add_source_parser(SameAnchorsRstParser, override=True)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", replace_parsers)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
