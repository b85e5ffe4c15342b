"""Write the bibliography as a plain list, which every screen reader knows.

docutils makes each citation a `doc-biblioentry`, which ARIA has given up: what stands in it counts
as standing in the list itself, and a list of links and paragraphs is none.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def visit_citation(writer: Any, node: nodes.citation) -> None:
    if not isinstance(node.previous_sibling(), nodes.citation):
        writer.body.append('<ul class="citation-list">\n')
    writer.body.append(writer.starttag(node, "li", CLASS="citation"))


def depart_citation(writer: Any, node: nodes.citation) -> None:
    writer.body.append("</li>\n")
    if not isinstance(node.next_node(descend=False, siblings=True), nodes.citation):
        writer.body.append("</ul>\n")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(nodes.citation, override=True, html=(visit_citation, depart_citation))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
