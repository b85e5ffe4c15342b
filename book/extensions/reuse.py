"""``{figures}``: the figures of all chapters as files, with their alt text. ``{citation}``: of all.

Both are read when the book is built: from the notebooks, and from CITATION.cff.
"""

import hashlib
import json
from base64 import b64decode
from collections.abc import Iterator
from html import escape
from os.path import relpath
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from qkv.explore.start_map import BOOK
from qkv.language import gettext

CITATION = "CITATION.cff"
THUMBNAIL, UNLINKED = "12rem", "no-scaled-link"  # Sphinx links what is scaled


def figures_of(notebook: dict[str, Any]) -> Iterator[tuple[str, str, bytes]]:
    """Each figure outside solutions: its cell, its alt text, its PNG."""
    for cell in notebook["cells"]:
        if "solution" in cell["metadata"].get("tags", []):
            continue
        alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
        for output in cell.get("outputs", []):
            if png := output.get("data", {}).get("image/png"):
                yield cell["id"], alt, b64decode("".join(png))


class FiguresDirective(SphinxDirective):
    """A fold for each chapter: each figure, small, a link that saves its file, and its alt text."""

    def run(self) -> list[nodes.Node]:
        result: list[nodes.Node] = []
        for chapter in BOOK:
            path = Path(self.env.srcdir, "chapters", f"{chapter.notebook}.ipynb")
            self.env.note_dependency(str(path))
            figures = list(figures_of(json.loads(path.read_text(encoding="utf-8"))))
            if figures:
                title = f"{chapter.number} · {gettext(chapter.short_title)}"
                summary = escape(f"{title} ({len(figures)})")
                fold = f"<details>\n<summary>{summary}</summary>\n"
                items = [self.item(*figure) for figure in figures]
                result += [raw(fold), nodes.bullet_list("", *items)]
                result.append(raw("</details>\n"))
        return result

    def item(self, cell_id: str, alt: str, png: bytes) -> nodes.list_item:
        """The figure is the chapter's own file, under the name that myst-nb gives it."""
        folder = Path(self.env.mystnb_config.output_folder)  # type: ignore[attr-defined]
        file = folder / f"{hashlib.sha256(png).hexdigest()}.png"
        if not file.exists():
            folder.mkdir(parents=True, exist_ok=True)
            file.write_bytes(png)
        name = f"{cell_id}.png"
        start = "../" * self.env.docname.count("/") + self.env.app.builder.imagedir
        link = f'<a href="{start}/{file.name}" download="{name}">'
        image = nodes.image("", uri=f"/{relpath(file, self.env.srcdir)}", width=THUMBNAIL)
        image["alt"], image["classes"] = gettext("Download {name}").format(name=name), [UNLINKED]
        download = nodes.paragraph("", "", raw(link), image, raw("</a>"))
        cell = addnodes.pending_xref(
            "", nodes.inline("", cell_id), refdomain="std", reftype="ref", reftarget=cell_id
        )
        cell["refdoc"], cell["refexplicit"], cell["refwarn"] = self.env.docname, True, True
        text = nodes.paragraph("", "", cell, nodes.Text(f": {alt}"))
        return nodes.list_item("", download, text)


def raw(html: str) -> nodes.raw:
    return nodes.raw("", html, format="html")


class CitationDirective(SphinxDirective):
    """What CITATION.cff says, as BibTeX."""

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir, CITATION)
        self.env.note_dependency(str(path))
        return [nodes.literal_block("", bibtex(path, self.config.copyright), language="bibtex")]


def bibtex(path: Path, year: str) -> str:
    """The entry; of a version that is not released, with the year of the copyright."""
    cited = yaml.safe_load(path.read_text(encoding="utf-8"))
    authors = " and ".join(
        f"{{{one['name']}}}" if "name" in one else f"{one['family-names']}, {one['given-names']}"
        for one in cited["authors"]
    )
    fields = {
        "author": authors,
        "title": f"{{{cited['title']}}}",
        "version": cited["version"],
        "year": str(cited.get("date-released", year))[:4],
        "url": cited.get("url") or cited.get("repository-code"),
        "doi": cited.get("doi"),
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return "@software{runnable_transformer,\n" + ",\n".join(lines) + "\n}"


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("figures", FiguresDirective)
    app.add_directive("citation", CitationDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
