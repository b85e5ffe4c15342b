"""Bring the explorers to life on the built page, and let a .md page embed a chapter's explorer.

Pages that hold widget state get two files: the drawing code of src/qkv/explore with the host that
stands in for a kernel, and their style. Other pages get nothing.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger
from stills import still

from qkv.explore.bundle import light, script, sheet
from qkv.explore.stored import STATE, VIEW, cells_without_state, explorers_in, part_of

ASSETS = Path(__file__).parents[1] / "assets"
FILES = {"explorers.js": (script, "explore-host.js"), "explorers.css": (sheet, "explore-host.css")}
EMBEDDED = "qkv-embedded"
LOGGER = getLogger(__name__)
SHOWN = re.compile(rf'<script type="{re.escape(VIEW)}">(.*?)</script>', re.DOTALL)


class ExplorerDirective(SphinxDirective):
    """```{explorer} chapters/05_masks.ipynb
    :title: the explorer's title; may be left out where the notebook has one explorer
    ```"""

    required_arguments = 1
    option_spec = {"title": directives.unchanged}  # noqa: RUF012 (docutils declares it so)

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir) / self.arguments[0]
        if not path.is_file():
            raise self.error(f"explorer: no notebook at {self.arguments[0]}")
        self.env.note_dependency(str(path))
        notebook = json.loads(path.read_text(encoding="utf-8"))
        found = explorers_in(notebook)
        title = self.options.get("title", next(iter(found), None) if len(found) == 1 else None)
        if title not in found:
            raise self.error(
                f"explorer: {self.arguments[0]} holds explorers titled {list(found)}, "
                f"got {title!r}: name one of them in :title:"
            )
        self.env.metadata[self.env.docname][EMBEDDED] = True
        return [nodes.raw("", embedded(notebook, found[title]), format="html")]


def embedded(notebook: dict[str, Any], model_id: str) -> str:
    """One explorer with its own state, apart from any other on the page."""
    state = part_of(notebook, model_id)
    view = {"model_id": model_id, "version_major": 2, "version_minor": 0}
    scripts = "".join(
        f'<script type="{kind}">{json.dumps(value).replace("</", chr(60) + chr(92) + "/")}</script>'
        for kind, value in ((STATE, state), (VIEW, view))
    )
    return f'<div class="{EMBEDDED}">{scripts}{still(state["state"], model_id)}</div>'


def check_state(app: Sphinx, page: str, source: list[str]) -> None:
    """A page would show nothing in the place of a widget whose state was not saved."""
    if Path(app.env.doc2path(page)).suffix == ".ipynb":
        for cell in cells_without_state(json.loads(source[0])):
            text = "cell %s: the state of its sliders was not saved: run `make notebooks`"
            LOGGER.warning(text, cell, location=page)


def write_files(app: Sphinx) -> None:
    """Before any page is written: Sphinx puts a checksum of each file into its address."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    for name, (made, host) in FILES.items():
        text = made() + light((ASSETS / host).read_text(encoding="utf-8"))
        Path(folder, name).write_text(text, encoding="utf-8")


def add_files(app: Sphinx, page: str, _: str, context: dict[str, Any], __: object) -> None:
    """Only where there is an explorer; and its opening state, for who has no JavaScript."""
    attributes = [getattr(file, "attributes", {}) for file in context.get("script_files", [])]
    stored = next((a["body"] for a in attributes if a.get("type") == STATE), None)
    if stored is not None:
        models = json.loads(stored)["state"]
        context["body"] = SHOWN.sub(
            lambda match: match[0] + still(models, json.loads(match[1])["model_id"]),
            context["body"],
        )
    if stored is not None or EMBEDDED in app.env.metadata.get(page, {}):
        app.add_js_file("explorers.js", loading_method="defer")
        app.add_css_file("explorers.css")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("explorer", ExplorerDirective)
    app.connect("source-read", check_state)
    app.connect("builder-inited", write_files)
    # After myst-nb, which adds a page's widget state in the same event.
    app.connect("html-page-context", add_files, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
