"""Titles and times of the chapters, from src/qkv/explore/chapters.json: in a page, in the sidebar.

``{facts}`` puts facts in the place of their names in braces; ``{chapters}`` is a table of links.
"""

import re
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import SphinxDirective

from qkv.explore.start_map import BOOK, WAYS, duration, way_minutes
from qkv.language import gettext

NAME = re.compile(r"{([a-z ]+)}")


def facts() -> dict[str, str]:
    """Each fact by the name that a page calls it by."""
    *most, last = map(str, WAYS["an afternoon"])
    reading, exercises, _ = zip(*(chapter.minutes for chapter in BOOK), strict=True)
    return {
        "chapters": str(len(BOOK)),
        "minutes of a core": gettext("{least} to {most} minutes").format(
            least=min(reading), most=max(reading)
        ),
        "time": duration(sum(reading)),
        "time of exercises": duration(sum(exercises)),
        "chapters of an afternoon": gettext("{chapters} and {last}").format(
            chapters=", ".join(most), last=last
        ),
        "cores of an afternoon": str(len(WAYS["an afternoon"])),
        "time of an afternoon": duration(way_minutes("an afternoon")),
    }


def with_facts(text: str) -> str:
    """The text with each fact in the place of its name in braces.

    Raises:
        ValueError: a name is that of no fact.
    """
    known = facts()
    if unknown := set(NAME.findall(text)) - known.keys():
        raise ValueError(f"facts: {min(unknown)!r} is none of {', '.join(known)}")
    return NAME.sub(lambda name: known[name[1]], text)


class FactsDirective(SphinxDirective):
    """Its content with facts in it."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        try:
            return parsed(self, [with_facts(line) for line in self.content])
        except ValueError as error:
            raise self.error(str(error)) from None


class ChaptersDirective(SphinxDirective):
    """A row for each chapter, with a link to it."""

    def run(self) -> list[nodes.Node]:
        rows = [
            f"| {one.number} | [{gettext(one.title)}](/chapters/{one.notebook}) |" for one in BOOK
        ]
        number, chapter = gettext("number"), gettext("chapter")
        found = parsed(self, [f"| {number} | {chapter} |", "|--:|---|", *rows])
        found[0]["classes"].append("qkv-chapters")  # book/progress marks what was read there
        return found


def parsed(directive: SphinxDirective, lines: list[str]) -> list[nodes.Node]:
    """What Markdown in the place of the directive would give."""
    parent = nodes.container()
    directive.state.nested_parse(StringList(lines, directive.get_source_info()[0]), 0, parent)
    return list(parent.children)


def name_in_sidebar(_: Sphinx, config: Config) -> None:
    """Give each chapter of _toc.yml its number and its title."""
    for chapter in BOOK:
        if page := config.external_site_map.get(f"chapters/{chapter.notebook}"):
            page.title = f"{chapter.number} · {gettext(chapter.short_title)}"


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("facts", FactsDirective)
    app.add_directive("chapters", ChaptersDirective)
    app.connect("config-inited", name_in_sidebar, priority=950)  # _toc.yml is read at 900
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
