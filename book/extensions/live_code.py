"""Add the "Live code" bar to pages with code cells, and copy the scripts that it loads.

A page gets the bar, book/live/toolbar.html, and one small script, book/live/toolbar.js. The rest of
book/live and the third-party code lie in the book under _static/live, where the bar's button finds
them, and no page loads them before.
"""

import json
import re
import shutil
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from docutils import nodes
from jinja2 import Template
from other_editions import folder_of
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from qkv.language import gettext

SOURCES = Path(__file__).parents[1] / "live"
BAR = SOURCES / "toolbar.html"
VENDORED = {
    "thebe": ["node_modules/thebe/lib", "*.js", "thebe.css"],
    "katex": ["node_modules/katex/dist", "katex.mjs", "contrib/auto-render.mjs"],
    "marked": ["node_modules/marked/lib", "marked.esm.js"],
}
# Where thebe would look for require.js, MathJax and widgets that it does not hold. The book has its
# own means for all three (book/live), so the addresses lead nowhere.
CDN_ADDRESS = re.compile(r"https://(?:cdnjs\.cloudflare\.com|cdn\.jsdelivr\.net)/[^\s\"'`]*")
# The only line by which anywidget's front end asks for a module loader of an older kind.
DEFINE = re.compile(r'^define\(\["@jupyter-widgets/base"\], (\w+)\);$', re.MULTILINE)


def add_bar(app: Sphinx, page: str, _: str, context: dict[str, Any], tree: nodes.Node) -> None:
    """Put the bar under the title of a page with code cells, and nowhere else."""
    if tree is None or not any("cell_input" in n["classes"] for n in tree.findall(nodes.container)):
        return
    repository, binder = app.config.repository_address, app.config.binder_address
    template = Template(BAR.read_text(encoding="utf-8"))
    folder = folder_of(app.config.language)
    elsewhere = other_ways_to_run(folder + page, repository, binder)
    bar = template.render(gettext=gettext, elsewhere=elsewhere).strip()
    context["body"] = context["body"].replace("</h1>", f"</h1>\n{bar}\n", 1)
    app.add_js_file("live/toolbar.js", loading_method="defer")
    app.add_css_file("live/live.css")


def other_ways_to_run(page: str, repository: str, binder: str) -> str:
    """Where the cells of a page can run that has only files behind it, as HTML."""
    if not repository:
        return gettext(
            "To run its cells on your machine, get the book, and give <code>make serve</code> in "
            "its folder."
        )
    if not binder:
        return gettext(
            'To run its cells on your machine, <a href="{repository}">get the book</a>, and give '
            "<code>make serve</code> in its folder."
        ).format(repository=escape(repository))
    owner_and_name = repository.removeprefix("https://github.com/")
    place = quote(f"book/{page}.html", safe="")
    address = f"{binder}/v2/gh/{owner_and_name}/main?urlpath={place}"
    return gettext(
        'To run its cells on your machine, <a href="{binder}">Open this page on Binder</a> (it '
        'takes some minutes), or run it on your machine: <a href="{repository}">get the book</a>, '
        "and give <code>make serve</code> in its folder."
    ).format(binder=escape(address), repository=escape(repository))


def copy_own_files(app: Sphinx) -> None:
    """Copy book/live, before any page: Sphinx puts a checksum of each file into its address."""
    if app.builder.format == "html":
        target = Path(app.outdir, "_static", "live")
        shutil.copytree(
            SOURCES, target, ignore=shutil.ignore_patterns(BAR.name), dirs_exist_ok=True
        )


def copy_vendored_files(app: Sphinx, error: Exception | None) -> None:
    """Copy third-party code, after slim_output: its words are not words of our pages."""
    if error or app.builder.format != "html":
        return
    target = Path(app.outdir, "_static", "live")
    for name, (folder, *patterns) in VENDORED.items():
        root = Path(app.confdir, folder)
        for pattern in patterns:
            files = list(root.glob(pattern))
            if not files:
                raise ExtensionError(f"live_code: no {pattern} in {folder}: make html fetches it")
            for file in files:
                copy = target / name / file.relative_to(root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(
                    CDN_ADDRESS.sub("data:,", file.read_text(encoding="utf-8")), encoding="utf-8"
                )
    (target / "anywidget.js").write_text(anywidget_module(), encoding="utf-8")
    server_status = Path(app.outdir, "_live", "server.json")
    server_status.parent.mkdir(exist_ok=True)
    server_status.write_text(json.dumps({"live": False, "message": "elsewhere"}), encoding="utf-8")


def anywidget_module() -> str:
    """The front end of the installed anywidget, as a module that the page can import."""
    spec = find_spec("anywidget")
    if spec is None or spec.origin is None:
        raise ExtensionError("live_code: anywidget is not installed")
    file = Path(spec.origin).parent / "nbextension" / "index.js"
    text, count = DEFINE.subn(r"export default \1;", file.read_text(encoding="utf-8"))
    if count != 1:
        raise ExtensionError(f"live_code: {file} ends in no define() that this book knows")
    return text


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", copy_own_files)
    app.connect("html-page-context", add_bar, priority=600)
    # After slim_output (600), before no_external_requests (900).
    app.connect("build-finished", copy_vendored_files, priority=700)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
