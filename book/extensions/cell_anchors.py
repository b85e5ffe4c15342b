"""Make every code cell of a chapter a place that links can lead to, under its own id.

`[text](#masks-12)` in any page leads to the cell `masks-12`; an id that is not there is a warning,
and so stops the build. Where a cell or a section has gone, the cell that has its matter now carries
the old id in its metadata, `{"anchors": ["masks-09"]}`: links from elsewhere lead there.
"""

import json
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def add_anchors(app: Sphinx, document: nodes.document) -> None:
    """Give each code cell of a notebook its id, and the project a label of that name."""
    path = app.env.doc2path(app.env.docname)
    if not path.endswith(".ipynb"):
        return
    with open(path, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    labels = app.env.get_domain("std").data["anonlabels"]
    for cell in document.findall(nodes.container):
        if cell.get("nb_element") == "cell_code" and "id" in cells[cell["cell_index"]]:
            stored = cells[cell["cell_index"]]
            cell["ids"] += [stored["id"], *stored["metadata"].get("anchors", [])]
            labels[stored["id"]] = (app.env.docname, stored["id"])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", add_anchors)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
