"""Rules on code cells: their length, output, alt text and imports, no redefinitions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tools.colab import is_setup
from tools.notebook_rules.chapter import Chapter, asserts, is_folded, tags, tree
from tools.notebook_rules.length import FURTHER, core_cells, count_lines

# Lines that are not blank; one in sight may define a whole class or function, solutions are longer.
LONGEST_VISIBLE, LONGEST_DEFINITION, LONGEST_FOLDED = 12, 20, 16
# Torch is their matter: devices, the fused kernel, the trainer.
WITH_TORCH_IN_CORE = {"devices", "efficient", "training"}


def short(chapter: Chapter) -> Iterator[str]:
    for cell in chapter.code:
        lines = count_lines(cell.source)
        most = LONGEST_FOLDED if is_folded(cell) else LONGEST_VISIBLE
        if any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in tree(cell).body):
            most = LONGEST_DEFINITION
        if lines > most and "solution" not in tags(cell):
            yield f"{cell.id}: {lines} lines, at most {most}"


def says_something(chapter: Chapter) -> Iterator[str]:
    """Every cell prints, draws or asserts; only imports and the figures' style may be silent."""
    for cell in chapter.code:
        silent = is_setup(cell) or all(map(is_import_or_style, tree(cell).body))
        if not (cell.outputs or asserts(cell) or silent):
            yield f"{cell.id}: neither output nor assert"


def is_import_or_style(node: ast.stmt) -> bool:
    """Whether the statement is an import or a call of `style()`."""
    call = node.value if isinstance(node, ast.Expr) else None
    styles = isinstance(call, ast.Call) and ast.unparse(call.func).endswith("style")
    return styles or is_import(node)


def alt_text(chapter: Chapter) -> Iterator[str]:
    for cell in chapter.code:
        drawn = any("image/png" in output.get("data", {}) for output in cell.outputs)
        alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
        if drawn and not alt.strip():
            yield f"{cell.id}: a figure without alt text"


def package_code_imported(chapter: Chapter) -> Iterator[str]:
    for cell in chapter.code:
        for node in ast.walk(tree(cell)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in chapter.package:
                yield f"{cell.id}: defines {node.name} again, which qkv.numpy has"


def torch_late(chapter: Chapter) -> Iterator[str]:
    """Importing torch costs seconds: it stands behind the core, which needs none."""
    if chapter.concept in WITH_TORCH_IN_CORE:
        return
    for cell in core_cells(chapter.notebook):
        if cell.cell_type == "code":
            names = [ast.unparse(node) for node in ast.walk(tree(cell)) if is_import(node)]
            if any(re.search(r"\btorch\b", name) for name in names):
                yield f"{cell.id}: imports torch before {FURTHER}"


def is_import(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)
