"""Write the scripts by which a page runs the trained translator with no server behind it.

Under _static/model: load_model.js, which a page loads that asks the model something; the engine,
which is book/model in one script; and the parameters with their vocabularies. The last two are
large: load_model.js adds them to the page at the first touch. Sphinx writes their addresses into no
page, so each gets its checksum here.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from qkv.bridge import to_bytes
from qkv.explore.framework.bundle import as_plain_script, in_order_of_imports, minify
from qkv.pretrained import pretrained
from qkv.pretrained.lenient_tokenizer import LenientTokenizer
from qkv.translator import Translator

BOOK = Path(__file__).parents[1]
ENGINE = BOOK / "model"
LOADER = ENGINE / "page" / "load_model.js"


def engine_script() -> str:
    """The engine as a script, which puts what index.js exports into globalThis.qkvEngine."""
    files = in_order_of_imports(ENGINE)
    index = ENGINE / "index.js"
    return as_plain_script("qkvEngine", [file for file in files if file != index] + [index])


def parameters_script(translator: Translator) -> str:
    """A script that puts a translator into globalThis.qkvParameters: safetensors in base64."""
    content: dict[str, Any] = {"model": asdict(translator.model.config)}
    content["max_len"] = translator.max_len
    for side in ("source", "target"):
        content[side] = json.loads(getattr(translator, side).to_bytes())
    if isinstance(translator.source, LenientTokenizer):
        content["source"]["language"] = translator.source.language
    content["parameters"] = b64encode(to_bytes(translator.model)).decode()
    return f"globalThis.qkvParameters = {json.dumps(content)};\n"


def model_scripts() -> dict[str, str]:
    """The three scripts by name; the loader knows the addresses of the others."""
    scripts = {"engine": engine_script(), "parameters": parameters_script(pretrained())}
    loader = minify(LOADER.read_text(encoding="utf-8"))
    for name, text in scripts.items():
        checksum = sha256(text.encode()).hexdigest()[:8]
        loader = loader.replace(f"{{{{ {name} }}}}", f"{name}.js?v={checksum}")
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
    # After slim_output (400), before no_external_requests (900).
    app.connect("build-finished", write_large, priority=500)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
