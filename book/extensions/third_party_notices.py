"""Put the licences of the code that the book carries into it, and link them in the footer.

What is copied: scripts, sheets and fonts of the theme, of Sphinx, and of what package.json names.
Their licences ask that their text goes with every copy. It is read from the packages as installed.
"""

import json
from collections.abc import Iterator
from importlib.metadata import PackagePath, distribution, files
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from qkv.language import gettext

ROOT = Path(__file__).parents[2]
PAGE = "_static/third-party-notices.txt"
PYTHON = ("sphinx", "sphinx-book-theme", "pydata-sphinx-theme", "sphinx-copybutton", "anywidget")
NPM = ("katex", "marked", "thebe")
BSD_CONDITIONS = "Redistribution and use in source and binary forms"  # where they begin in LICENSE


def python_notices(name: str) -> Iterator[tuple[str, str]]:
    """Title and text of each licence file of an installed distribution, bundled code's included."""

    def is_licence(path: PackagePath) -> bool:
        return "LICENSE" in path.name and path.suffix in ("", ".txt", ".rst")

    found = [path for path in files(name) or [] if is_licence(path)]
    if not found:
        raise ExtensionError(f"third_party_notices: {name} is installed without its licence")
    for path in found:
        title = f"{name} {distribution(name).version}"
        if not path.parts[0].endswith(".dist-info"):
            script = path.name.removesuffix(".LICENSE.txt")
            title += f", {script if script != path.name else ' '.join(path.parts[-3:-1])}"
        yield title, path.read_text()


def npm_notices(folder: Path, own_licence: str) -> Iterator[tuple[str, str]]:
    """Title and text of each licence file of a fetched npm package, bundled code's included.

    Args:
        own_licence: the repository's BSD licence. A package under the same one, whose archive has
            no file for it (thebe), gets its conditions below the package's own name.
    """
    about = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    title = f"{about['name']} {about['version']}"
    if (folder / "LICENSE").is_file():
        yield title, (folder / "LICENSE").read_text(encoding="utf-8")
    elif about["license"] == "BSD-3-Clause":
        conditions = own_licence[own_licence.index(BSD_CONDITIONS) :]
        yield title, f"BSD 3-Clause License\n\nCopyright (c) {about['author']}\n\n{conditions}"
    else:
        raise ExtensionError(f"third_party_notices: no licence in {folder}: {about['license']}")
    for path in sorted(folder.rglob("*.LICENSE.txt")):
        script = path.name.removesuffix(".LICENSE.txt")
        yield f"{title}, {script}", path.read_text(encoding="utf-8")


def notices(root: Path = ROOT) -> str:
    """Every notice, each below a title, as one plain text."""
    own_licence = (root / "LICENSE").read_text(encoding="utf-8")
    each = [notice for name in PYTHON for notice in python_notices(name)]
    for name in NPM:
        each += npm_notices(root / "node_modules" / name, own_licence)
    head = "Code of others that this book carries, and the licences under which it does."
    texts = [f"{title}\n{'=' * len(title)}\n\n{text.strip()}" for title, text in each]
    return "\n\n\n".join([head, *texts]) + "\n"


def link_in_footer(app: Sphinx, _: str, __: str, context: dict[str, Any], ___: nodes.Node) -> None:
    address = context["pathto"](PAGE, 1)
    words = gettext("Licences of code by others")
    link = f'<a href="{address}">{words}</a>.'
    context["theme_extra_footer"] = f"{app.config.html_theme_options['extra_footer']} {link}"


def write_notices(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        Path(app.outdir, PAGE).write_text(notices(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", link_in_footer)
    app.connect("build-finished", write_notices, priority=700)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
