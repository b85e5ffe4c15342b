"""Write index.html at the book's root, which leads on to its first page.

Jupyter Book's own has no title and no language.
"""

from html import escape
from pathlib import Path
from typing import Any

from page_metadata import tags_of
from sphinx.application import Sphinx

from qkv.language import gettext

ROOT_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<title>{title}</title>
<meta http-equiv="refresh" content="0; url={first}">
<link rel="canonical" href="{site}{first}">
<link rel="icon" href="data:,">
{tags}
</head>
<body><h1>{title}</h1><p><a href="{first}">{words}</a></p></body>
</html>
"""


def write_root_page(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    first = app.builder.get_target_uri(app.config.root_doc)
    page = ROOT_PAGE.format(
        language=app.config.language,
        title=escape(app.config.html_title),
        first=first,
        words=escape(gettext("Open the book")),
        site=app.config.html_baseurl,
        tags=tags_of(Path(app.outdir, first)),
    )
    (Path(app.outdir) / "index.html").write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    # Jupyter Book sets this for sphinx-comments, which the book does not load; unknown, it would be
    # a warning, and warnings stop the build.
    app.add_config_value("comments_config", {}, "html")
    app.connect("build-finished", write_root_page, priority=200)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
