"""Rules on code cells: their length, output, alt text and imports, no redefinitions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tools.colab import is_setup
from tools.notebook_rules.chapter import Chapter, asserts, shows_explorer, tags, tree

LONGEST_CELL = 16  # lines that are not blank; solutions may be longer


def short(chapter: Chapter) -> Iterator[str]:
    for cell in chapter.code:
        lines = sum(1 for line in cell.source.splitlines() if line.strip())
        if lines > LONGEST_CELL and "solution" not in tags(cell):
            yield f"{cell.id}: {lines} lines, at most {LONGEST_CELL}"


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
    """Importing torch costs seconds: what a reader sees first, up to the explorer, needs none."""
    for cell in chapter.code:
        if shows_explorer(chapter, cell):
            return
        names = [ast.unparse(node) for node in ast.walk(tree(cell)) if is_import(node)]
        if any(re.search(r"\btorch\b", name) for name in names):
            yield f"{cell.id}: imports torch before the first explorer"


def is_import(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)
