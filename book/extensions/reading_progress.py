"""Mark what a reader has read and done: a script on every page, and one for its dialog.

Both are made of the modules of book/progress. The first gets what it cannot see on a page: every
chapter with its exercises, those of its core and those of *Going further*, from
src/qkv/explore/chapters.json.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from qkv.explore.start_map import BOOK
from qkv.javascript.bundle import as_plain_script, in_order_of_imports

SOURCES = Path(__file__).parents[1] / "progress"
PAGE, DIALOG = "progress.js", "progress_dialog.js"


def chapters() -> str:
    """Each chapter as the script reads it, in JSON."""
    rows = [(one.notebook, one.short_title, *one.exercises) for one in BOOK]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def scripts() -> dict[str, str]:
    """The two by name, as plain scripts: a browser reads no modules from a file.

    The first knows the address of the second, with its checksum.
    """
    dialog = as_plain_script("qkvProgressDialog", [SOURCES / "dialog" / DIALOG])
    address = f"{DIALOG}?v={sha256(dialog.encode()).hexdigest()[:8]}"
    page = as_plain_script("qkvProgress", in_order_of_imports(SOURCES))
    page = page.replace('"{{ chapters }}"', chapters()).replace("{{ dialog }}", address)
    return {PAGE: page, DIALOG: dialog}


def write_scripts(app: Sphinx) -> None:
    """Before any page: Sphinx puts the checksum of the first into its address."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in scripts().items():
        (folder / name).write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_scripts)
    app.add_js_file(PAGE, loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
