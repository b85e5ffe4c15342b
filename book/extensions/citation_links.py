"""Make a citation of links in square brackets, such as `[[Rush, 2018](https://the.address)]`.

JupyterLab, Colab and code hosts show such links as they stand, where they leave a role raw. The
address is that of an entry in the bibliography; the text, what the page shows of the entry.
"""

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote

from docutils import nodes
from pybtex.database import Entry
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform
from sphinxcontrib.bibtex.domain import BibtexDomain
from sphinxcontrib.bibtex.style.referencing import BaseReferenceStyle, format_references
from sphinxcontrib.bibtex.style.template import SphinxReferenceInfo

LINK, OTHER = "\0", "\1"  # stand in the text of a paragraph for the nodes between its words
NODE = re.compile(rf"(\[{LINK}(?:,\s+{LINK})*\]|{LINK}|{OTHER})")


def address(entry: Entry) -> str:
    """Where one reads what an entry names."""
    if "url" in entry.fields:
        return str(entry.fields["url"])
    if "eprint" in entry.fields:
        return f"https://arxiv.org/abs/{entry.fields['eprint']}"
    if "doi" in entry.fields:
        return f"https://doi.org/{quote(entry.fields['doi'])}"
    raise ExtensionError(f"The entry {entry.key} of the bibliography needs a url, eprint or doi.")


def author_year(entry: Entry, style: BaseReferenceStyle) -> str:
    """What a page shows of an entry in a citation's brackets."""
    nowhere = SphinxReferenceInfo(cast(Any, None), "", "", "", None, "", "")
    text = format_references(style, "alp", [(entry, None, nowhere)])
    return in_one_line(str(text))


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def stand_in(node: nodes.Node) -> str:
    if isinstance(node, nodes.Text):
        return str(node)
    is_link = isinstance(node, nodes.reference) and node.get("refuri", "").startswith("http")
    return LINK if is_link else OTHER


class CiteLinks(SphinxTransform):
    """Replaces links in brackets by what the role `cite` makes of their entries' keys."""

    default_priority = 5  # while the text is as it was written

    def apply(self, **_: Any) -> None:
        parents = {link.parent: None for link in self.document.findall(nodes.reference)}
        if not parents:
            return
        self.domain = cast(BibtexDomain, self.env.get_domain("cite"))
        self.entries = {address(e): e for e in self.domain.bibdata.data.entries.values()}
        self.problems: list[str] = []
        for parent in parents:
            parent[:] = list(self.cited(parent.children))
        if self.problems:
            lines = "\n".join(f"  {self.env.docname}: {problem}" for problem in self.problems)
            raise ExtensionError(f"These citations are not as the bibliography has them:\n{lines}")

    def cited(self, children: list[nodes.Node]) -> Iterator[nodes.Node]:
        """The words and nodes of a paragraph, with citations in place of links in brackets."""
        others: Any = (node for node in children if not isinstance(node, nodes.Text))
        for piece in NODE.split("".join(map(stand_in, children))):
            if piece.startswith(f"[{LINK}"):
                links = [next(others) for _ in range(piece.count(LINK))]
                if keys := list(filter(None, map(self.key, links))):
                    yield self.citation(keys, links[0].line)
            elif piece in (LINK, OTHER):
                node = next(others)
                if piece == LINK and self.is_bare(node):
                    self.problems.append(f"{node.astext()!r} needs [square brackets] around it")
                yield node
            elif piece:
                yield nodes.Text(piece)

    def key(self, link: nodes.reference) -> str | None:
        """The key of the entry that a link in brackets leads to, if its text agrees with it."""
        text, entry = in_one_line(link.astext()), self.entries.get(link["refuri"])
        if entry is None:
            self.problems.append(f"no entry has the address {link['refuri']!r} of {text!r}")
            return None
        if text != (shown := author_year(entry, self.domain.reference_style)):
            self.problems.append(f"{text!r} cites {entry.key}: write {shown!r}")
        return str(entry.key)

    def is_bare(self, link: nodes.reference) -> bool:
        entry = self.entries.get(link["refuri"])
        style = self.domain.reference_style
        return entry is not None and in_one_line(link.astext()) == author_year(entry, style)

    def citation(self, keys: list[str], line: int | None) -> nodes.Node:
        for file in self.domain.bibdata.bibfiles:
            self.env.note_dependency(str(file))  # read the page again when an entry changes
        role: Any = self.domain.role("p")
        text = ",".join(keys)
        reporter = SimpleNamespace(get_source_and_line=lambda line: (self.document["source"], line))
        parser = SimpleNamespace(document=self.document, reporter=reporter)
        (made,), _ = role("cite:p", text, text, line, parser)
        return made


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(CiteLinks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
