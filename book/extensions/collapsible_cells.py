"""Hide tagged cells in plain HTML <details>, the same as the prose uses.

myst-nb's own is an admonition whose summary every screen reader announces as "Toggle hidden
content". Here the summary is what is inside: a solution, or what `nb_code_prompt_show` says.
"""

from html import escape
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode, HideInputCells
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from qkv.language import gettext


class NameSolutions(SphinxPostTransform):
    """Give cells tagged `solution` their summary, before myst-nb wraps them."""

    default_priority = HideInputCells.default_priority - 1
    formats = ("html",)

    def run(self, **_: Any) -> None:
        for cell in self.document.findall(nodes.container):
            if "tag_solution" in cell["classes"]:
                cell["prompt_show"] = gettext("Solution")


def visit_details(writer: Any, node: HideCodeCellNode) -> None:
    classes = " ".join(["qkv-collapsible", *node["classes"]])
    summary = escape(node["prompt_show"])
    writer.body.append(f'<details class="{classes}">\n<summary>{summary}</summary>\n')


def depart_details(writer: Any, node: HideCodeCellNode) -> None:
    writer.body.append("</details>\n")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_post_transform(NameSolutions)
    app.add_node(HideCodeCellNode, override=True, html=(visit_details, depart_details))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
