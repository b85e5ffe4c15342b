"""Make every code cell of a chapter a place that links can lead to, under its own id.

`[text](#masks-12)` in any page leads to the cell `masks-12`; an id that is not there is a warning,
and so stops the build. Where a cell or a section has gone, the cell that has its matter now carries
the old id in its metadata, `{"anchors": ["masks-09"]}`: links from elsewhere lead there.

Where a Markdown cell begins stands in a comment, `<!-- cell masks-01 -->`, for the slides.
"""

import json
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def name_cells(app: Sphinx, document: nodes.document) -> None:
    """Give the cells of a notebook their ids on its page."""
    path = app.env.doc2path(app.env.docname)
    if not path.endswith(".ipynb"):
        return
    with open(path, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    add_anchors(app, document, cells)
    mark_markdown_cells(document, cells)


def add_anchors(app: Sphinx, document: nodes.document, cells: list[dict[str, Any]]) -> None:
    """Give each code cell its id, and the project a label of that name."""
    labels = app.env.get_domain("std").data["anonlabels"]
    for cell in document.findall(nodes.container):
        if cell.get("nb_element") == "cell_code" and "id" in cells[cell["cell_index"]]:
            stored = cells[cell["cell_index"]]
            names = [stored["id"], *stored["metadata"].get("anchors", [])]
            cell["ids"] += names
            labels.update({name: (app.env.docname, name) for name in names})


def mark_markdown_cells(document: nodes.document, cells: list[dict[str, Any]]) -> None:
    """Write a comment with its id in front of what each Markdown cell begins with."""
    before = -1
    for block in list(blocks(document)):
        # myst-nb counts the lines of cell n from 10,000 (n + 1) on.
        cell = (block.line or 0) // 10_000 - 1
        if cell > before and cells[cell]["cell_type"] == "markdown":
            before = cell
            comment = f"<!-- cell {cells[cell]['id']} -->"  # Sphinx writes no nodes.comment
            block.parent.insert(block.parent.index(block), nodes.raw("", comment, format="html"))


def blocks(parent: nodes.Element) -> Iterator[nodes.Element]:
    """The sections and blocks of a document, in reading order."""
    for child in parent.children:
        if isinstance(child, nodes.Element):
            yield child
            if isinstance(child, nodes.section):
                yield from blocks(child)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", name_cells)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
