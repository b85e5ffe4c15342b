"""The playground's JavaScript and CSS, for JupyterLab and the book."""

from __future__ import annotations

from pathlib import Path

from qkv.explore.framework import bundle as explorer
from qkv.javascript.bundle import bundle_files, imported, in_order_of_imports, minify
from qkv.javascript.scripts import engine_files

STATIC = Path(__file__).parent / "static"


def playground_files() -> list[Path]:
    """The playground's own files, each after those of them that it imports."""
    return in_order_of_imports(STATIC)


def es_module() -> str:
    """What anywidget loads: the drawing, the playground and the engine in one ES module."""
    drawing = bundle_files([*explorer.explorer_files(), *playground_files()])
    engine = f"const engine = (() => {{\n{bundle_files(engine_files())}\nreturn index_js;\n}})();"
    render = "export default { render: (context) => playground_js.render({ ...context, engine }) };"
    return "\n".join((drawing, engine, render, ""))


def plain_script() -> str:
    """What a page of the book loads: a function of what the explorers' script exports."""
    files = playground_files()
    shared = sorted({name for file in files for where, name in imported(file) if where != "./"})
    names = "".join(f"const {name}_js = explorers;\n" for name in shared)
    body = f"{names}{bundle_files(files)}\nreturn playground_js;\n"
    return minify(f"globalThis.qkvPlayground = (explorers) => {{\n{body}}};\n")


def style_sheet() -> str:
    """The playground's own CSS; it goes with the explorers' and that of native controls."""
    return (STATIC / "playground.css").read_text(encoding="utf-8")


def whole_style_sheet() -> str:
    """All CSS that a playground needs, for JupyterLab."""
    return explorer.style_sheet() + explorer.native_controls_style() + style_sheet()
