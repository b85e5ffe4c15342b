"""Bundle JavaScript modules into one script: a browser reads no modules from file://."""

from __future__ import annotations

import re
from collections.abc import Iterable
from graphlib import TopologicalSorter
from pathlib import Path

IMPORT = re.compile(r'^import (\{[^}]*\}) from "(\.{1,2}/[\w./]*?)(\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?:function\*?|const|class) (\w+)", re.MULTILINE)
DEFAULT = re.compile(r"^export default (.+);$", re.MULTILINE)
BLOCK_COMMENT = re.compile(r"^\s*/\*.*?\*/$", re.MULTILINE | re.DOTALL)


def wrap_in_function(file: Path) -> str:
    """One file as a function of its own, so that two files may both have a `computeLayout`."""
    text = file.read_text(encoding="utf-8")
    exported = EXPORT.findall(text)
    text = IMPORT.sub(r"const \1 = \3_js;", text)
    text = re.sub(r"^export (?=function|const|class)", "", text, flags=re.MULTILINE)
    if DEFAULT.search(text):
        text = DEFAULT.sub(r"return \1;", text)
    else:
        text += f"return {{ {', '.join(exported)} }};\n"
    return f"const {file.stem}_js = (() => {{\n{text}}})();\n"


def bundle_files(files: Iterable[Path]) -> str:
    """Files in the order of their imports in one text; `NAME_js` holds what NAME.js exports."""
    return "\n".join(map(wrap_in_function, files))


def imported(file: Path) -> list[tuple[str, str]]:
    """What a file imports: (the path up to the name, the name without .js)."""
    return [(where, name) for _, where, name in IMPORT.findall(file.read_text(encoding="utf-8"))]


def in_order_of_imports(folder: Path) -> list[Path]:
    """The modules of a folder, each after those of the folder that it imports.

    Raises:
        CycleError: two import one another.
        FileNotFoundError: one that is imported is not there.
    """
    files = sorted(folder.glob("*.js"))
    imports = {
        file.stem: [name for where, name in imported(file) if where == "./"] for file in files
    }
    return [folder / f"{name}.js" for name in TopologicalSorter(imports).static_order()]


def as_plain_script(name: str, files: Iterable[Path]) -> str:
    """Files as a script that puts what the last one exports into globalThis.NAME."""
    *_, last = files = list(files)
    text = bundle_files(files)
    return minify(f"globalThis.{name} = (() => {{\n{text}\nreturn {last.stem}_js;\n}})();\n")


def minify(text: str) -> str:
    """Strip indentation, blank lines and comments of whole lines: a third less for every reader."""
    lines = (line.strip() for line in BLOCK_COMMENT.sub("", text).splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("// ")) + "\n"
