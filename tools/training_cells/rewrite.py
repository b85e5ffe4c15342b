"""Rewrite a cell so that each assert is noted instead of raised, and each comparison in it too."""

from __future__ import annotations

import ast
from typing import Any

SIGNS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}


def noted(source: str, cell: str, vary: bool) -> str:
    """The cell with its asserts noted; `vary` says whether its draws are other ones."""
    tree = Asserts(cell).visit(ast.parse(source))
    return f"DRAWS.on = {vary}\n{ast.unparse(ast.fix_missing_locations(tree))}"


class Asserts(ast.NodeTransformer):
    """Turns `assert …` into `NOTES.verdict(key, …)`; the key is the cell and the code."""

    def __init__(self, cell: str) -> None:
        self.cell = cell

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        key = f"{self.cell}: {ast.unparse(node.test)}"
        return ast.Expr(call("verdict", key, Comparisons(self.cell).visit(node.test)))


class Comparisons(ast.NodeTransformer):
    """Turns `a < b`, `isclose(a, b)` and `allclose(a, b)` into calls that note both sides."""

    def __init__(self, cell: str) -> None:
        self.cell, self.reduce = cell, ""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        key, reduce, self.reduce = f"{self.cell}: {ast.unparse(node)}", self.reduce, ""
        operands = [self.visit(operand) for operand in (node.left, *node.comparators)]
        operators = [SIGNS[type(operator)] for operator in node.ops]
        return call("compare", key, reduce, operators, *operands)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        key = f"{self.cell}: {ast.unparse(node)}"
        name = ast.unparse(node.func).rpartition(".")[2]
        compared = node.func.value if isinstance(node.func, ast.Attribute) else None
        self.reduce = name if name in ("any", "all") and isinstance(compared, ast.Compare) else ""
        self.generic_visit(node)
        self.reduce = ""
        if name in ("isclose", "allclose"):
            close = call("close", key, node.func, *node.args)
            close.keywords = node.keywords
            return close
        return node


def call(method: str, *arguments: Any) -> ast.Call:
    """`NOTES.method(…)` of nodes and of plain values."""
    nodes: list[ast.expr] = [
        given if isinstance(given, ast.expr) else ast.parse(repr(given), mode="eval").body
        for given in arguments
    ]
    return ast.Call(ast.Attribute(ast.Name("NOTES", ast.Load()), method, ast.Load()), nodes, [])
