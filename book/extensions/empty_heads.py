"""Make ordinary cells of a table's heads without text, such as the corner above the rows' names.

A screen reader would announce a head that says nothing.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

EMPTY_HEAD = re.compile(r"<th\b([^>]*)>(?:\s|<p>\s*</p>)*</th>")


def replace_heads(html: str) -> str:
    return EMPTY_HEAD.sub(r"<td\1></td>", html)


def on_page(_: Sphinx, __: str, ___: str, context: dict[str, Any], ____: nodes.Node) -> None:
    if "body" in context:
        context["body"] = replace_heads(context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", on_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
