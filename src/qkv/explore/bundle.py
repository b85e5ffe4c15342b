"""The drawing code as one text: JupyterLab takes a module, the built book a plain script."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
# In the order of their imports: a file may use those before it.
FILES = (
    *("svg", "numbers", "frames", "read", "grid"),
    *("heatmap", "bars", "lines", "table", "kernel", "explore"),
)
IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?:function|const) (\w+)", re.MULTILINE)
DEFAULT = re.compile(r"^export default (.+);$", re.MULTILINE)


def closed(name: str) -> str:
    """One file as a function of its own, so that two files may both have a `plan`."""
    text = (HERE / f"{name}.js").read_text(encoding="utf-8")
    names = EXPORT.findall(text)
    text = IMPORT.sub(r"const \1 = \2_js;", text)
    text = re.sub(r"^export (?=function|const)", "", text, flags=re.MULTILINE)
    if DEFAULT.search(text):
        text = DEFAULT.sub(r"return \1;", text)
    else:
        text += f"return {{ {', '.join(names)} }};\n"
    return f"const {name}_js = (() => {{\n{text}}})();\n"


def drawing() -> str:
    """All files; `explore_js` holds what explore.js exports."""
    return "\n".join(closed(name) for name in FILES)


def module() -> str:
    """What anywidget loads: an ES module whose default export renders an Explorer."""
    return f"{drawing()}\nexport default explore_js;\n"


def script() -> str:
    """What a page loads, from a server or from a file: modules cannot be read from file://."""
    text = f"globalThis.qkvExplore = (() => {{\n{drawing()}\nreturn explore_js;\n}})();\n"
    return light(text)


def light(text: str) -> str:
    """Without indentation, blank lines and whole-line comments: a third less for every reader."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("// ")) + "\n"


def sheet() -> str:
    return (HERE / "explore.css").read_text(encoding="utf-8")
