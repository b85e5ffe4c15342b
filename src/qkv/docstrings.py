"""Docstrings by reference: "As `qkv.numpy.softmax`." stands for the rest of the docstring there."""

import inspect
import re
import sys
from operator import attrgetter
from types import ModuleType
from typing import Any

__all__ = ["inherit_docstrings", "whole_docstring"]

REFERENCE = re.compile(r"^As `([\w.]+)`(?:\.|, with:((?:\n {4}.+)+))$", re.MULTILINE)
ARGS = re.compile(r"^Args:((?:\n {4}.+)+)", re.MULTILINE)
ENTRY = re.compile(r"^ {4}(\w+).*(?:\n {8}.*)*", re.MULTILINE)


def inherit_docstrings(package: str, room: ModuleType) -> None:
    """Complete every docstring of the package's modules that refers to the room.

    Raises:
        AttributeError: a docstring refers to what the room does not have.
        ValueError: a reference is in another form.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{package}."):
            own = [x for x in vars(module).values() if getattr(x, "__module__", None) == name]
            members = [member for x in own if isinstance(x, type) for member in vars(x).values()]
            for documented in own + members:
                _complete(getattr(documented, "__func__", documented), room)


def _complete(documented: Any, room: ModuleType) -> None:
    """A function, class, method or property; its docstring is None under `python -OO`."""
    docstring = documented.__doc__
    if docstring and f"As `{room.__name__}." in docstring:
        documented.__doc__ = whole_docstring(docstring, room)


def whole_docstring(docstring: str, room: ModuleType) -> str:
    """The docstring with all but the first line of the one that it refers to.

    Entries below "As `…`, with:" replace those of the same first name under Args, or come last.
    """
    docstring = inspect.cleandoc(docstring)
    reference = REFERENCE.search(docstring)
    if reference is None:
        raise ValueError(f"a reference must be a line of its own, got {docstring!r}")
    name, own = reference.groups(default="")
    referred = attrgetter(name.removeprefix(f"{room.__name__}."))(room)
    rest = inspect.cleandoc(referred.__doc__).partition("\n\n")[2]
    if own:
        rest = ARGS.sub(lambda args: "Args:\n" + _joined(args[1], own), rest)
    return docstring[: reference.start()] + rest + docstring[reference.end() :]


def _joined(args: str, own: str) -> str:
    entries, own_entries = (
        {entry[1]: entry[0] for entry in ENTRY.finditer(text)} for text in (args, own)
    )
    return "\n".join((entries | own_entries).values())
