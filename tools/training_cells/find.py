"""Find the code cells that train: an optimizer, or parameters moved along gradients in a loop."""

from __future__ import annotations

import ast
import dis
import importlib
import inspect
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import nbformat

LIBRARIES = ("qkv", "torch")
DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def chapters_that_train(folder: Path) -> list[Path]:
    """The notebooks of `folder` that train something in a cell, in the order of their names."""
    return [path for path in sorted(folder.glob("*.ipynb")) if training_cells(path)]


def training_cells(path: Path) -> list[str]:
    """The ids of a notebook's cells that train something when they run."""
    known: dict[str, Any] = {}
    found = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        body = ast.parse(cell.source).body
        known |= imported(body) | {n.name: n for n in body if isinstance(n, DEFINITIONS)}
        if train([node for node in body if not isinstance(node, DEFINITIONS)], known):
            found.append(str(cell.id))
    return found


def train(body: Iterable[ast.AST], known: Mapping[str, Any]) -> bool:
    """Whether statements train, or what they name does, or what that names, and so on.

    Args:
        known: the functions, classes and modules that names stand for.
    """
    body = list(body)
    waiting, seen = meanings(body, {**known, **imported(body)}), set[Any]()
    if move_parameters(body):
        return True
    while waiting:
        what = waiting.pop()
        if what in seen:
            continue
        seen.add(what)
        if isinstance(what, DEFINITIONS):
            if move_parameters([what]):
                return True
            waiting |= meanings([what], {**known, **imported([what])})
        elif what.__module__.startswith("torch.optim"):
            return True
        elif what.__module__.startswith("qkv"):
            moves, named = of_the_package(what)
            if moves:
                return True
            waiting |= named
    return False


@cache
def of_the_package(what: Any) -> tuple[bool, set[Any]]:
    """Whether a function or class moves parameters itself, and what its source names."""
    body = ast.parse(textwrap.dedent(inspect.getsource(what))).body
    names = {**vars(sys.modules[what.__module__]), **imported(body)}
    return move_parameters(body), meanings(body, names)


def move_parameters(body: Iterable[ast.AST]) -> bool:
    """Whether a loop has `p -= …` or `p = p - …`, and a gradient or a backward pass is named."""
    every = [node for outer in body for node in ast.walk(outer)]
    names = [getattr(node, "id", getattr(node, "attr", "")) for node in every]
    return any("grad" in name or "backward" in name for name in names) and any(
        ast.unparse(value).startswith(f"{ast.unparse(target)} - ")
        for loop in every
        if isinstance(loop, ast.For | ast.While)
        for node in ast.walk(loop)
        for target, value in assignments(node)
    )


def assignments(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Each target and its value; `p -= q` is `p = p - q`, and a tuple is taken apart."""
    if isinstance(node, ast.AugAssign):
        yield node.target, ast.BinOp(node.target, node.op, node.value)
    elif isinstance(node, ast.Assign):
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            yield from zip(target.elts, value.elts, strict=False)
        else:
            yield target, value


def meanings(body: Iterable[ast.AST], names: Mapping[str, Any]) -> set[Any]:
    """The functions and classes that names and dotted names stand for."""
    found = set()
    for node in (inner for outer in body for inner in ast.walk(outer)):
        if not isinstance(node, ast.Name | ast.Attribute):
            continue
        first, *rest = ast.unparse(node).split(".")
        what = names.get(first)
        for name in rest:
            what = getattr(what, name, None) if inspect.ismodule(what) else None
        what = inspect.unwrap(what) if callable(what) else what
        if isinstance(what, DEFINITIONS) or inspect.isfunction(what) or inspect.isclass(what):
            found.add(what)
    return found


def imported(body: Iterable[ast.AST]) -> dict[str, Any]:
    """What imports of the package and of torch bind, wherever they stand in the statements."""
    names: dict[str, Any] = {}
    for node in (inner for outer in body for inner in ast.walk(outer)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith(LIBRARIES):
                    module = importlib.import_module(alias.name)
                    top = alias.name.partition(".")[0]
                    names[alias.asname or top] = module if alias.asname else sys.modules[top]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(LIBRARIES):
            scope: dict[str, Any] = {}
            exec(ast.unparse(node), scope)
            names |= scope
    return names


def cells_that_feed(sources: Mapping[str, str], cells: Iterable[str]) -> set[str]:
    """These cells, and those before them that bind what they use: data, a model, a seed."""
    feeding, needed, cells = set[str](), set[str](), set(cells)
    for cell in reversed(list(sources)):
        bound, used = top_level_names(sources[cell])
        if cell in cells or bound & needed:
            feeding.add(cell)
            needed = (needed - bound) | used
    return feeding


def cells_that_use(sources: Mapping[str, str], cells: Iterable[str]) -> set[str]:
    """These cells, and those behind them that use what they bind, and so on."""
    using, names, cells = set[str](), set[str](), set(cells)
    for cell, source in sources.items():
        bound, used = top_level_names(source)
        if cell in cells or used & names:
            using.add(cell)
            names |= bound
        else:
            names -= bound
    return using


def top_level_names(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell binds, and those that it or its functions take from the notebook."""
    bound, used = set[str](), set[str]()
    top = compile(source, "a cell", "exec")

    def read(code: CodeType) -> None:
        """In the order of evaluation: what a name held before the cell bound it does not matter."""
        for step in dis.get_instructions(code):
            if isinstance(step.argval, CodeType):
                read(step.argval)
            elif step.opname == "STORE_NAME" and code is top:
                bound.add(step.argval)
            elif step.opname in ("LOAD_NAME", "LOAD_GLOBAL") and step.argval not in bound:
                used.add(step.argval)

    read(top)
    return bound, used
