"""The stored results of a benchmark: ``{results} attention`` in a page of Markdown.

The one directive that shows a file: one of benchmarks/results, by its name, under the same rules as
a page. Those that show any file of the machine are switched off.
"""

from pathlib import Path
from typing import Any

from allowed_content import markdown_rules
from docutils import nodes
from docutils.parsers.rst.directives.misc import Include
from myst_parser.mocking import MockIncludeDirective
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

RESULTS = "benchmarks/results"
BELOW_HEADINGS = {"heading-offset": 2, "relative-images": None}


class ResultsDirective(SphinxDirective):
    """Includes the Markdown of one benchmark, its headings below those of the page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        page = f"{RESULTS}/{self.arguments[0]}"
        file = Path(self.env.srcdir, f"{page}.md")
        if "/" in self.arguments[0] or not file.is_file():
            raise self.error(f"results: no {self.arguments[0]}.md in {RESULTS}")
        if problems := list(markdown_rules(self.env, page).problems(file.read_text("utf-8"))):
            raise self.error(f"results: {page}.md: {problems[0]}")
        settings = self.state.document.settings
        settings.file_insertion_enabled = True
        try:
            include = MockIncludeDirective(
                self.state._renderer,
                name="include",
                klass=Include,
                arguments=[f"/{page}.md"],
                options=BELOW_HEADINGS,
                body=[],
                lineno=self.lineno,
            )
            return list(include.run())
        finally:
            settings.file_insertion_enabled = False


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("results", ResultsDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
