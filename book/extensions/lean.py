"""Keep out of the book what no page of it uses, and give the bare address a page of its own."""

import shutil
from html import escape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

# Font Awesome: its loader is gone (templates/static/webpack-macros.html). Locales: catalogues that
# only the build reads. Maps: for who debugs the theme's minified scripts. Macros: templates.
UNUSED = [
    "_static/vendor/fontawesome",
    "_static/locales",
    "_static/*/*.map",
    "_static/images/logo_*",
    "_static/*webpack-macros.html",
]
FRONT_DOOR = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<title>{title}</title>
<meta http-equiv="refresh" content="0; url={first}">
<link rel="canonical" href="{first}">
<link rel="icon" href="data:,">
</head>
<body><h1>{title}</h1><p><a href="{first}">Open the book</a></p></body>
</html>
"""


def keep_what_is_used(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    book = Path(app.outdir)
    kept_logo = "logo_colab" if app.config.html_theme_options.get("launch_buttons") else ""
    for pattern in UNUSED:
        for path in list(book.glob(pattern)):
            if path.is_dir():
                shutil.rmtree(path)
            elif not kept_logo or kept_logo not in path.name:
                path.unlink()


def open_front_door(app: Sphinx, error: Exception | None) -> None:
    """Write index.html at the root; Jupyter Book's own has no title and no language."""
    if error or app.builder.format != "html":
        return
    page = FRONT_DOOR.format(
        language=app.config.language,
        title=escape(app.config.html_title),
        first=app.builder.get_target_uri(app.config.root_doc),
    )
    (Path(app.outdir) / "index.html").write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    # Jupyter Book sets this for sphinx-comments, which the book does not load; unknown, it would be
    # a warning, and warnings stop the build.
    app.add_config_value("comments_config", {}, "html")
    app.connect("build-finished", keep_what_is_used, priority=200)
    app.connect("build-finished", open_front_door, priority=200)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
