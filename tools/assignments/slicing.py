"""Static backward slice: which statements of a chapter an exercise needs before it can run.

`Slice` walks from the end of a chapter to its beginning, with a set of names that are still
needed. A statement that binds one of them is kept, and what it reads is needed from then on.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator
from dataclasses import dataclass, field

DEFINITION = (ast.FunctionDef, ast.ClassDef)


@dataclass
class Slice:
    """What is still needed at the place that the walk has come to.

    Args:
        modules: names that imports bind; a call of one of their functions changes no value.
    """

    modules: frozenset[str] = frozenset()
    needed: set[str] = field(default_factory=set)

    def need(self, code: str) -> None:
        """Code that runs at this place, whatever it binds."""
        for statement in reversed(ast.parse(code).body):
            self.needed -= names_bound(statement)
            self.needed |= names_read(statement)

    def keep(self, cell: str) -> str:
        """The statements of a cell that bind what is needed; "" for none."""
        lines = cell.splitlines()
        kept = [self._keep_statement(node, lines) for node in reversed(ast.parse(cell).body)]
        return "\n".join(code for code in reversed(kept) if code)

    def _keep_statement(self, statement: ast.stmt, lines: list[str]) -> str:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            names = [name for name in statement.names if bound_by(name) in self.needed]
            self.needed -= set(map(bound_by, names))
            statement.names = names
            return ast.unparse(statement) if names else ""
        changed = names_changed(statement) - self.modules
        if not self.needed & (names_bound(statement) | changed):
            return ""
        decorators = getattr(statement, "decorator_list", [])
        first = min(node.lineno for node in (statement, *decorators))
        self.needed -= names_bound(statement)
        self.needed |= names_read(statement)
        code = "\n".join(lines[first - 1 : statement.end_lineno])
        return f"\n\n{code}\n\n" if isinstance(statement, DEFINITION) else code


def bound_by(name: ast.alias) -> str:
    return name.asname or name.name.partition(".")[0]


def imported_names(code: str) -> set[str]:
    imports = (n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Import | ast.ImportFrom))
    return {bound_by(name) for node in imports for name in node.names}


def names_read(statement: ast.stmt) -> set[str]:
    """The global names whose values from before the statement it may read, in functions too."""
    first: dict[str, bool] = {}
    for name, is_read in accesses(statement):
        first.setdefault(name, is_read)
    return {name for name, is_read in first.items() if is_read}


def accesses(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Each name and whether it is read there, in the order of evaluation."""
    if isinstance(node, ast.Name):
        yield node.id, isinstance(node.ctx, ast.Load)
        return
    if isinstance(node, SCOPES):
        for name in globals_of(node):
            yield name, True
    if isinstance(node, ast.AugAssign):
        for name in base_name(node.target):
            yield name, True
    if not isinstance(node, SCOPES):
        last = LAST.get(type(node), ())
        children = [child for field, child in fields_of(node) if field not in last]
        for child in (*children, *(child for field, child in fields_of(node) if field in last)):
            yield from accesses(child)


SCOPES = (*DEFINITION, ast.Lambda)
# What is evaluated after the other fields, where Python's syntax tree has another order.
LAST: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Assign: ("targets",),
    ast.AnnAssign: ("target",),
    ast.NamedExpr: ("target",),
    ast.For: ("target", "body", "orelse"),
    ast.ListComp: ("elt",),
    ast.SetComp: ("elt",),
    ast.GeneratorExp: ("elt",),
    ast.DictComp: ("key", "value"),
    ast.comprehension: ("target", "ifs"),
}


def fields_of(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield name, child


def globals_of(node: ast.AST) -> set[str]:
    """The global names that a function or a class reads, whenever it runs."""

    def walk(table: symtable.SymbolTable) -> Iterator[str]:
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global()):
                yield symbol.get_name()
        for inner in table.get_children():
            yield from walk(inner)

    return set(walk(symtable.symtable(ast.unparse(node), "<cell>", "exec")))


def names_bound(statement: ast.stmt) -> set[str]:
    """The names that the statement gives a new value in any case."""
    if isinstance(statement, DEFINITION):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return set(map(bound_by, statement.names))
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {name for target in targets for name in stored_names(target)}
    return set()


def stored_names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from stored_names(part)
    elif isinstance(target, ast.Starred):
        yield from stored_names(target.value)
    elif isinstance(target, ast.Name):
        yield target.id


def names_changed(statement: ast.stmt) -> set[str]:
    """The names that the statement may bind or whose values it may change: `x[0] = 1`, `x += 1`,
    `x.append(1)`, and whatever a loop, a branch or a `with` assigns."""
    if isinstance(statement, DEFINITION):
        return set()
    found: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            if isinstance(node.ctx, ast.Store | ast.Del):
                found |= base_name(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Attribute):
                found |= base_name(function)
    return found - names_bound(statement)


def base_name(node: ast.AST) -> set[str]:
    """`x` of `x`, `x.grad` and `x[0].grad`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()
