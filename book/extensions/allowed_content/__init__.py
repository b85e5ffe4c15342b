"""Stop the build at a page that holds more than a page of this book needs, before it is read.

A page stands beside a kernel that runs whatever a script of the page asks for, and a directive can
show any file of the machine that builds. So a contributed chapter may hold text, formulas, tables,
pictures, stored outputs and explorers; whatever else it holds is named with its cell and the mend.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markdown_it.renderer import RendererHTML
from myst_parser.parsers.mdit import create_md_parser
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from allowed_content.markdown import MarkdownRules
from allowed_content.notebook import notebook_problems

# Of a page in reStructuredText no more is let through than the library page has.
RST_DIRECTIVES = {"public"}
RST_DIRECTIVE = re.compile(r"\.\.\s+(?:\|[^|]*\|\s+)?([^\s:]+(?::[^\s:]+)*)\s*::")
RST_ROLE = re.compile(r":[\w:+.-]+:`|`:[\w:+.-]+:")
# A second lock on what the rules refuse: docutils' own, which also holds in docstrings.
DOCUTILS = {"file_insertion_enabled": False, "raw_enabled": False}


def refuse_pages(app: Sphinx, env: BuildEnvironment, pages: list[str]) -> None:
    """Name all that is refused in the pages that are about to be read."""
    env.settings.update(DOCUTILS)
    problems = [f"  {page}: {problem}" for page in pages for problem in page_problems(env, page)]
    if problems:
        raise ExtensionError("No page may hold this:\n" + "\n".join(problems))


def page_problems(env: BuildEnvironment, page: str) -> Iterator[str]:
    """What a page holds that it may not, each with its cell and the mend."""
    file = Path(env.doc2path(page))
    if not re.fullmatch(r"[\w/-]+", page, re.ASCII):
        yield "a name with other characters than letters, digits and hyphens: rename the file"
        return
    if not file.resolve().is_relative_to(Path(env.srcdir).resolve()):
        yield "it is a link to a file outside the book: write it into the book"
        return
    text = file.read_text(encoding="utf-8")
    markdown = markdown_rules(env, page)
    if file.suffix == ".ipynb":
        yield from notebook_problems(text, markdown)
    elif file.suffix == ".md":
        yield from markdown.problems(text)
    elif file.suffix == ".rst":
        for name in RST_DIRECTIVE.findall(text):
            if name not in RST_DIRECTIVES:
                yield f"the directive {name!r}: write the page in Markdown"
        for role in RST_ROLE.findall(text):
            yield f"the role {role!r}: write the page in Markdown"
    else:
        yield f"a file of type {file.suffix!r}: write Markdown or a notebook"


def markdown_rules(env: BuildEnvironment, page: str) -> MarkdownRules:
    """The rules for the Markdown of a page, with the parser that the build reads it with."""
    parser = create_md_parser(env.myst_config, RendererHTML)  # type: ignore[attr-defined]
    return MarkdownRules(parser, page, env.found_docs, Path(env.srcdir))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("env-before-read-docs", refuse_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
