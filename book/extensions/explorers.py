"""Make explorers work on the built page, and let a .md page embed a chapter's explorer.

Pages that hold widget state get two files: the drawing code of src/qkv/explore together with
book/assets/static_widgets.js, which needs no kernel, and their style. Those that hold a playground
get its script and style too, and what loads the model. Other pages get nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from docutils import nodes
from docutils.parsers.rst import directives
from noscript_tables import noscript_tables
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

from qkv.explore.framework import bundle as drawing
from qkv.explore.playground import bundle as playground
from qkv.javascript.bundle import minify
from qkv.notebooks.widget_state import (
    PLAYGROUND_ID,
    STATE_MIME,
    VIEW_MIME,
    cells_without_state,
    find_explorers,
    state_of_widget,
)

ASSETS = Path(__file__).parents[1] / "assets"
EXPLORERS = ("explorers.js", "explorers.css")
PLAYGROUND = ("model/load_model.js", "playground.js", "playground.css")
EMBEDDED = "qkv-embedded"
LOGGER = getLogger(__name__)
VIEW_SCRIPT = re.compile(rf'<script type="{re.escape(VIEW_MIME)}">(.*?)</script>', re.DOTALL)


class ExplorerDirective(SphinxDirective):
    """```{explorer} chapters/05_masks.ipynb
    :title: the explorer's title; may be left out where the notebook has one explorer
    ```"""

    required_arguments = 1
    option_spec = {"title": directives.unchanged}  # noqa: RUF012 (docutils declares it so)

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir) / self.arguments[0]
        if self.env.path2doc(str(path)) not in self.env.found_docs:
            raise self.error(f"explorer: no notebook of the book at {self.arguments[0]}")
        self.env.note_dependency(str(path))
        notebook = json.loads(path.read_text(encoding="utf-8"))
        titles = find_explorers(notebook)
        title = self.options.get("title", next(iter(titles), None) if len(titles) == 1 else None)
        if title not in titles:
            raise self.error(
                f"explorer: {self.arguments[0]} holds explorers titled {list(titles)}, "
                f"got {title!r}: name one of them in :title:"
            )
        self.env.metadata[self.env.docname][EMBEDDED] = True
        return [nodes.raw("", embedded(notebook, titles[title]), format="html")]


def embedded(notebook: dict[str, Any], model_id: str) -> str:
    """One explorer with its own state, apart from any other on the page."""
    state = state_of_widget(notebook, model_id)
    view = {"model_id": model_id, "version_major": 2, "version_minor": 0}
    scripts = "".join(
        f'<script type="{kind}">{as_script(value)}</script>'
        for kind, value in ((STATE_MIME, state), (VIEW_MIME, view))
    )
    return f'<div class="{EMBEDDED}">{scripts}{noscript_tables(state["state"], model_id)}</div>'


def as_script(value: Any) -> str:
    """JSON as short as it is, Hangul as itself, for the inside of a script of HTML."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("</", r"<\/")


def check_state(app: Sphinx, page: str, source: list[str]) -> None:
    """Warn of a widget whose state was not saved: a page would show nothing in its place."""
    if Path(app.env.doc2path(page)).suffix == ".ipynb":
        for cell in cells_without_state(json.loads(source[0])):
            text = "cell %s: the state of its sliders was not saved: run `make notebooks`"
            LOGGER.warning(text, cell, location=page)


def file_texts() -> dict[str, str]:
    """The files by name, but for load_model.js: model_in_page.py writes that."""
    script, style = (
        (ASSETS / f"static_widgets.{kind}").read_text("utf-8") for kind in ("js", "css")
    )
    return {
        "explorers.js": drawing.plain_script() + minify(script),
        "explorers.css": drawing.style_sheet() + drawing.native_controls_style() + style,
        "playground.js": playground.plain_script(),
        "playground.css": playground.style_sheet(),
    }


def write_files(app: Sphinx) -> None:
    """Write the files, before any page: Sphinx puts a checksum of each into its address."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in file_texts().items():
        Path(folder, name).write_text(text, encoding="utf-8")


def add_files(app: Sphinx, page: str, _: str, context: dict[str, Any], __: object) -> None:
    """Add the files to a page with explorers, and the tables for who has no JavaScript."""
    attributes = [getattr(file, "attributes", {}) for file in context.get("script_files", [])]
    script = next((a for a in attributes if a.get("type") == STATE_MIME), None)
    if script is not None:
        script["body"] = as_script(state := json.loads(script["body"]))
        models = state["state"]
        context["body"] = VIEW_SCRIPT.sub(
            lambda match: match[0] + noscript_tables(models, json.loads(match[1])["model_id"]),
            context["body"],
        )
    if script is not None or EMBEDDED in app.env.metadata.get(page, {}):
        # It draws what has been read of the page, and waits for no other script.
        add(app, EXPLORERS, "async")
    if script is not None and f'"{PLAYGROUND_ID}"' in script["body"]:
        add(app, PLAYGROUND, "defer")


def add(app: Sphinx, names: Iterable[str], loading_method: Literal["async", "defer"]) -> None:
    """Add scripts and styles to the page that is being written."""
    for name in names:
        if name.endswith(".js"):
            app.add_js_file(name, loading_method=loading_method)
        else:
            app.add_css_file(name)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("explorer", ExplorerDirective)
    app.connect("source-read", check_state)
    app.connect("builder-inited", write_files)
    # After myst-nb, which adds a page's widget state in the same event.
    app.connect("html-page-context", add_files, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
