"""Bundle JavaScript modules: the explorer for JupyterLab and the book, or those of a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from graphlib import TopologicalSorter
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
EXPORT = re.compile(r"^export (?:function\*?|const|class) (\w+)", re.MULTILINE)
DEFAULT = re.compile(r"^export default (.+);$", re.MULTILINE)
BLOCK_COMMENT = re.compile(r"^\s*/\*.*?\*/$", re.MULTILINE | re.DOTALL)


def wrap_in_function(file: Path) -> str:
    """One file as a function of its own, so that two files may both have a `computeLayout`."""
    text = file.read_text(encoding="utf-8")
    exported = EXPORT.findall(text)
    text = IMPORT.sub(r"const \1 = \2_js;", text)
    text = re.sub(r"^export (?=function|const|class)", "", text, flags=re.MULTILINE)
    if DEFAULT.search(text):
        text = DEFAULT.sub(r"return \1;", text)
    else:
        text += f"return {{ {', '.join(exported)} }};\n"
    return f"const {file.stem}_js = (() => {{\n{text}}})();\n"


def bundle_files(files: Iterable[Path]) -> str:
    """Files in the order of their imports in one text; `NAME_js` holds what NAME.js exports."""
    return "\n".join(map(wrap_in_function, files))


def in_order_of_imports(folder: Path) -> list[Path]:
    """The modules of a folder, each after those that it imports.

    Raises:
        CycleError: two import one another.
        FileNotFoundError: one that is imported is not there.
    """
    imports = {
        file.stem: [name for _, name in IMPORT.findall(file.read_text(encoding="utf-8"))]
        for file in sorted(folder.glob("*.js"))
    }
    return [folder / f"{name}.js" for name in TopologicalSorter(imports).static_order()]


def explorer_files() -> list[Path]:
    """The explorer's files, in the order of their imports; `explorer_js` holds what it exports."""
    return [STATIC / f"{name}.js" for name in FILES]


def es_module() -> str:
    """What anywidget loads: an ES module whose default export renders an Explorer."""
    return f"{bundle_files(explorer_files())}\nexport default explorer_js;\n"


def plain_script() -> str:
    """What a page of the book loads: a browser reads no modules from file://."""
    return as_plain_script("qkvExplore", explorer_files())


def as_plain_script(name: str, files: Iterable[Path]) -> str:
    """Files as a script that puts what the last one exports into globalThis.NAME."""
    *_, last = files = list(files)
    text = bundle_files(files)
    return minify(f"globalThis.{name} = (() => {{\n{text}\nreturn {last.stem}_js;\n}})();\n")


def minify(text: str) -> str:
    """Strip indentation, blank lines and comments of whole lines: a third less for every reader."""
    lines = (line.strip() for line in BLOCK_COMMENT.sub("", text).splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("// ")) + "\n"


def style_sheet() -> str:
    """The explorer's CSS, for JupyterLab and the book alike."""
    return (STATIC / "explorer.css").read_text(encoding="utf-8")
