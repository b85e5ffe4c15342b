"""A stored chapter, and functions that read its cells."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from qkv.notebooks.widget_state import (
    EXPLORER_ID,
    PLAYGROUND_ID,
    find_explorers,
    views_of,
)
from tools.colab import is_setup

FOLDS = {"hide-cell", "hide-input"}


@dataclass(frozen=True)
class Chapter:
    """A stored notebook, and what the rest of the house says about its concept."""

    concept: str
    notebook: Any
    text: str
    rows: Mapping[str, frozenset[str]]  # each row of the sources: the chapters that owe it
    exercises: frozenset[str]  # those that qkv.exercises knows for this concept
    package: frozenset[str]  # the public names of qkv.numpy
    address: str  # the repository's, "" while there is none
    number: int
    terms: Mapping[
        str, int
    ]  # each term of the glossary: the number of the chapter that introduces it

    @cached_property
    def code(self) -> list[Any]:
        return [cell for cell in self.notebook.cells if cell.cell_type == "code"]


def tree(cell: Any) -> ast.Module:
    """The cell's syntax; empty for a cell that is no plain Python (another rule says so)."""
    try:
        return ast.parse(str(cell.source))
    except SyntaxError:
        return ast.Module([], [])


def tags(cell: Any) -> set[str]:
    return set(cell.metadata.get("tags", []))


def is_folded(cell: Any) -> bool:
    """Whether the page hides the cell's code at first."""
    return bool(tags(cell) & FOLDS) or is_setup(cell)


def asserts(cell: Any) -> bool:
    return any(isinstance(node, ast.Assert) for node in ast.walk(tree(cell)))


def exercises_checked(cell: Any) -> list[str]:
    """The exercises that the cell hands to `check`."""
    return [
        call.args[0].value
        for call in calls(cell).get("check", [])
        if call.args and isinstance(call.args[0], ast.Constant)
        if isinstance(call.args[0].value, str)
    ]


def calls(cell: Any) -> dict[str, list[ast.Call]]:
    """What the cell calls, by its name as written: `check`, `explorers.fills`."""
    calls_by_name: dict[str, list[ast.Call]] = {}
    for node in ast.walk(tree(cell)):
        if isinstance(node, ast.Call):
            calls_by_name.setdefault(ast.unparse(node.func), []).append(node)
    return calls_by_name


def plain_texts(cell: Any) -> list[str]:
    return [output.get("data", {}).get("text/plain", "") for output in cell.outputs]


def shows_explorer(notebook: Any, cell: Any) -> bool:
    """Whether the cell shows an explorer or a playground."""
    return shows_widget(notebook, cell, EXPLORER_ID, PLAYGROUND_ID)


def shows_widget(notebook: Any, cell: Any, *ids: str) -> bool:
    """Whether the cell shows one of these anywidgets."""
    models = find_explorers(notebook, ids).values()
    return any(view["model_id"] in models for view in views_of(cell))
