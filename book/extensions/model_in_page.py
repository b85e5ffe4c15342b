"""Write the scripts by which a page runs the trained translator with no server behind it.

Under _static/model: load_model.js, which a page loads that asks the model something; the engine,
which is qkv.javascript in one script; and the parameters with their vocabularies. The last two are
large: load_model.js adds them to the page at the first touch. Sphinx writes their addresses into no
page, so each gets its checksum here.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from qkv.javascript.bundle import minify
from qkv.javascript.scripts import engine_script, parameters_script
from qkv.pretrained import pretrained

LOADER = Path(__file__).parents[1] / "assets" / "load_model.js"


def model_scripts() -> dict[str, str]:
    """The three scripts by name; the loader knows the addresses of the others."""
    scripts = {"engine": engine_script(), "parameters": parameters_script(pretrained())}
    loader = minify(LOADER.read_text(encoding="utf-8"))
    for name, text in scripts.items():
        checksum = sha256(text.encode()).hexdigest()[:8]
        loader = loader.replace(f"{{{{ {name} }}}}", f"{name}.js?v={checksum}")
    loader = loader.replace(
        "{{ bytes }}", str(sum(len(text.encode()) for text in scripts.values()))
    )
    return {f"{name}.js": text for name, text in scripts.items()} | {"load_model.js": loader}


def write(app: Sphinx, names: Iterable[str]) -> None:
    """Write some of the scripts into a built HTML book; leave any other build alone."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir, "_static", "model")
    folder.mkdir(parents=True, exist_ok=True)
    scripts = model_scripts()
    for name in names:
        Path(folder, name).write_text(scripts[name], encoding="utf-8")


def write_loader(app: Sphinx) -> None:
    """Before any page: Sphinx puts its checksum into its address."""
    write(app, ["load_model.js"])


def write_large(app: Sphinx, error: Exception | None) -> None:
    """After slim_output, which would keep a rule of CSS for each word of the vocabulary."""
    if not error:
        write(app, ["engine.js", "parameters.js"])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_loader)
    # After slim_output (600), before live_code (700) and no_external_requests (900).
    app.connect("build-finished", write_large, priority=650)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
