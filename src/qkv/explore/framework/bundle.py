"""Bundle the explorer's JavaScript: an ES module for JupyterLab, a plain script for the book."""

from __future__ import annotations

import re
from pathlib import Path

STATIC = Path(__file__).parent / "static"
# In the order of their imports: a file may use those before it.
FILES = (
    *("elements", "number_format", "frames", "mark_selection", "heatmap_layout", "heatmap"),
    *("bars", "lines", "label_placement", "scatter_layout", "scatter_marks", "scatter", "tree"),
    *(
        "diagram_layout",
        "diagram",
        "table",
        "kernel_inputs",
        "jupyter_controls",
        "korean",
        "explorer",
    ),
)
IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?:function|const) (\w+)", re.MULTILINE)
DEFAULT = re.compile(r"^export default (.+);$", re.MULTILINE)


def wrap_in_function(name: str) -> str:
    """One file as a function of its own, so that two files may both have a `computeLayout`."""
    text = (STATIC / f"{name}.js").read_text(encoding="utf-8")
    exported = EXPORT.findall(text)
    text = IMPORT.sub(r"const \1 = \2_js;", text)
    text = re.sub(r"^export (?=function|const)", "", text, flags=re.MULTILINE)
    if DEFAULT.search(text):
        text = DEFAULT.sub(r"return \1;", text)
    else:
        text += f"return {{ {', '.join(exported)} }};\n"
    return f"const {name}_js = (() => {{\n{text}}})();\n"


def bundle_files() -> str:
    """All files in one text; `explorer_js` holds what explorer.js exports."""
    return "\n".join(wrap_in_function(name) for name in FILES)


def es_module() -> str:
    """What anywidget loads: an ES module whose default export renders an Explorer."""
    return f"{bundle_files()}\nexport default explorer_js;\n"


def plain_script() -> str:
    """What a page of the book loads: a browser reads no modules from file://."""
    text = f"globalThis.qkvExplore = (() => {{\n{bundle_files()}\nreturn explorer_js;\n}})();\n"
    return minify(text)


def minify(text: str) -> str:
    """Strip indentation, blank lines and whole-line comments: a third less for every reader."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("// ")) + "\n"


def style_sheet() -> str:
    """The explorer's CSS, for JupyterLab and the book alike."""
    return (STATIC / "explorer.css").read_text(encoding="utf-8")
