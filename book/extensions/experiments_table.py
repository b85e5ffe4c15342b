"""The stored experiments of the chapters as a table: ``{experiments}`` in a page of Markdown."""

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from qkv.experiments import stored_results
from qkv.experiments.stored_results import StoredResult, stored_result, summary
from qkv.language import gettext, gettext_noop

HEAD = (
    gettext_noop("what it measures, and its command"),
    gettext_noop("chapter"),
    gettext_noop("date"),
    gettext_noop("machine"),
    "s",
)
READ = re.compile(r"stored_result\(\\?\"(\w+)\\?\"\)")  # in a notebook quotes are escaped


class ExperimentsDirective(SphinxDirective):
    """A row for each stored result; `measurements` is the only page that has it."""

    def run(self) -> list[nodes.Node]:
        folder = Path(self.env.srcdir) / "chapters"
        for path in folder.glob("*.ipynb"):
            self.env.note_dependency(str(path))
        chapters = chapters_that_read(folder)
        names = [path.stem for path in stored_results.RESULTS.glob("*.json")]
        names.sort(key=lambda name: (chapters.get(name, ["none"]), name))
        rows = [row(stored_result(name), chapters.get(name, [])) for name in names]
        lines = [
            f"| {' | '.join(cells)} |" for cells in (map(gettext, HEAD), ["---"] * len(HEAD), *rows)
        ]
        parent = nodes.container(classes=["qkv-experiments"])
        self.state.nested_parse(StringList(lines, self.get_source_info()[0]), 0, parent)
        return [parent]


def chapters_that_read(folder: Path) -> dict[str, list[str]]:
    """The stems of the chapters in which a stored result is read, by its name."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        code = json.dumps([cell["source"] for cell in cells if cell["cell_type"] == "code"])
        for name in sorted(set(READ.findall(code))):
            found.setdefault(name, []).append(path.stem)
    return found


def row(result: StoredResult, chapters: list[str]) -> list[str]:
    """The cells of a result, in the order of HEAD."""
    links = ", ".join(f"[{int(stem[:2])}](/chapters/{stem})" for stem in chapters)
    script = stored_results.RESULTS.parent / f"{result.name}.py"
    what = gettext(summary(script)).replace("|", r"\|")
    took = gettext("not recorded") if result.seconds is None else f"{result.seconds:,.0f}"
    date = result.date.replace("-", "\N{NON-BREAKING HYPHEN}")
    return [f"{what}<br>`{result.command}`", links, date, result.machine, took]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("experiments", ExperimentsDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
