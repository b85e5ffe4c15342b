"""API reference (book/library.rst): each public name by its docstring, the rooms side by side."""

import inspect
from importlib import import_module
from types import ModuleType
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class PublicDirective(SphinxDirective):
    """``.. public:: qkv.numpy.masks qkv.torch.masks``: what both say of a name stands together."""

    required_arguments = 1
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        modules = [import_module(name) for name in self.arguments]
        names = dict.fromkeys(name for module in modules for name in module.__all__)
        lines = []
        for name in names:
            lines += [".. container:: qkv-rooms", ""]
            for module in modules:
                if name in module.__all__:
                    lines += ["   " + line for line in entry(module, name)]
        parent = nodes.container()
        self.state.nested_parse(StringList(lines, self.get_source_info()[0]), 0, parent)
        return [parent]


def entry(module: ModuleType, name: str) -> list[str]:
    """The lines that document a public name, by the shortest path to import it by."""
    value = getattr(module, name)
    room = import_module(module.__name__.rpartition(".")[0])
    home = room if name in getattr(room, "__all__", ()) else module
    path = f"{home.__name__}.{name}"
    if inspect.isclass(value):
        return [f".. autoclass:: {path}", "   :members:", ""]
    if inspect.isfunction(inspect.unwrap(value)):  # a cached one too
        return [f".. autofunction:: {path}", ""]
    return [f".. py:data:: {path}", f"   :value: {value!r}", ""]


def keep_bars(_: Sphinx, __: str, ___: str, ____: object, _____: object, lines: list[str]) -> None:
    """Escape the bars of |x|: a distance in a docstring, a substitution to docutils."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("public", PublicDirective)
    app.connect("autodoc-process-docstring", keep_bars)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
