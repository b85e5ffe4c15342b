"""Link the first bold use of a glossary term on a page to the term's entry.

Chapters set a term in bold where they introduce it, in plain Markdown, so that a notebook reads the
same in JupyterLab, in Colab and on a code host. The built page makes a link of it: of either name
of the term, for in the Korean edition a chapter that is not translated yet has the English one.
"""

from typing import Any

from docutils import nodes
from glossary_forms import forms
from glossary_terms import glossary_terms
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

# A link in a link is none; a heading is a link already, in the table of contents.
LINKS = (nodes.reference, addnodes.pending_xref)
LEFT_ALONE = (*LINKS, nodes.title, addnodes.glossary)


def is_left_alone(node: nodes.Node) -> bool:
    if any(node.findall(lambda inner: isinstance(inner, LINKS))):
        return True
    while node := node.parent:
        if isinstance(node, LEFT_ALONE):
            return True
    return False


class LinkTerms(SphinxPostTransform):
    """Wraps what stands in bold in a reference to the glossary; once for each term on a page."""

    default_priority = 5  # before references are resolved

    def run(self, **_: Any) -> None:
        if self.app.builder.format != "html":
            return
        terms = glossary_terms(self.env)
        entries = {
            form: (term, page, anchor)
            for term, _, kind, page, anchor, _ in self.env.get_domain("std").get_objects()
            if kind == "term"
            for name in reversed(terms[term].names)
            for form in forms(name)
        }
        linked: set[str] = set()
        for bold in list(self.document.findall(nodes.strong)):
            text = " ".join(bold.astext().lower().split()).rstrip(".:,")
            term, page, anchor = entries.get(text, ("", "", ""))
            if not term or term in linked or is_left_alone(bold):
                continue
            linked.add(term)
            link = make_refnode(self.app.builder, self.env.docname, page, anchor, bold.children)
            link["classes"].append("qkv-term")
            bold.children = []
            bold += link


def setup(app: Sphinx) -> dict[str, Any]:
    app.setup_extension("glossary_terms")
    app.add_post_transform(LinkTerms)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
