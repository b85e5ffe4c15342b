"""requirements.txt of an assignment: the package, with the extras that its code imports."""

from __future__ import annotations

import ast
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

PINS = Path(__file__).resolve().parents[2] / "requirements.txt"
ALWAYS = ("numpy", "jupyterlab", "ipykernel")
# Each extra of pyproject.toml: what imports need it, and the packages whose version is named.
EXTRAS = {
    "explore": (("matplotlib", "qkv.explore", "qkv.plot"), ("matplotlib", "ipywidgets")),
    "text": (("tokenizers", "qkv.text.bpe"), ("tokenizers",)),
    "torch": (("torch", "qkv.torch", "qkv.trainer"), ("torch",)),
}


def requirements(notebook: Any) -> str:
    """What students install: this version of the package, and those it was tested with."""
    modules = imported_modules(notebook)
    extras = [
        name
        for name, (needed, _) in EXTRAS.items()
        if any(f"{module}.".startswith(f"{one}.") for module in modules for one in needed)
    ]
    packages = [*ALWAYS, *(package for name in extras for package in EXTRAS[name][1])]
    own = f"qkv[{','.join(extras)}]" if extras else "qkv"
    pins = dict(re.findall(r"^([\w-]+)==(\S+)", PINS.read_text(encoding="utf-8"), re.MULTILINE))
    return "\n".join([f"{own}=={version('qkv')}", *(f"{p}=={pins[p]}" for p in packages)]) + "\n"


def imported_modules(notebook: Any) -> set[str]:
    found: set[str] = set()
    for cell in notebook.cells:
        for node in ast.walk(ast.parse(cell.source)) if cell.cell_type == "code" else ():
            if isinstance(node, ast.Import):
                found |= {name.name for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return found
