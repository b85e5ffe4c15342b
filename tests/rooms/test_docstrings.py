"""Docstrings by reference: torch's say what is their own, and take the rest from NumPy's."""

import ast
import inspect
import os
import sys
from functools import wraps
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

import qkv.numpy as qn
import qkv.torch as qt
from qkv.docstrings import inherit_docstrings, whole_docstring
from tests.helpers.processes import run_python

TORCH, NUMPY = Path(qt.__file__).parent, Path(qn.__file__).parent
SHARED = sorted(path.relative_to(TORCH) for path in TORCH.rglob("*.py"))
SHARED = [path for path in SHARED if (NUMPY / path).exists() and path.name != "__init__.py"]


def written(code):
    """Docstrings of a module's functions, classes and methods as its file holds them, by name."""
    found = {}

    def visit(parent, prefix):
        for node in parent.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[prefix + node.name] = ast.get_docstring(node)
                visit(node, f"{prefix}{node.name}.")

    visit(ast.parse(code), "")
    return {name: text for name, text in found.items() if text}


def repeated(torch_code, numpy_code):
    """Names whose torch docstring is NumPy's once more, in more than two lines."""
    numpys = written(numpy_code)
    return [
        name
        for name, text in written(torch_code).items()
        if text in (numpys.get(name), numpys.get(name.replace(".forward", ".__call__")))
        and len(list(filter(str.strip, text.splitlines()))) > 2
    ]


REFERRING = [
    pytest.param(path, name, text, id=f"{path.stem}.{name}")
    for path in sorted(TORCH.rglob("*.py"))
    for name, text in written(path.read_text("utf-8")).items()
    if "As `qkv." in text
]


def unindented(text):
    """What stands in no section."""
    return [line for line in text.splitlines() if not line.startswith("    ")]


@pytest.mark.parametrize(("path", "name", "text"), REFERRING)
def test_a_docstring_by_reference_is_whole(path, name, text):
    module = ".".join(("qkv.torch", *path.relative_to(TORCH).with_suffix("").parts))
    whole = attrgetter(name)(sys.modules[module]).__doc__
    before, _, reference = text.partition("As `qkv.numpy.")
    referred, _, own = reference.partition("`")
    assert f".{referred}".endswith("." + name.replace(".forward", ".__call__"))
    rest = inspect.cleandoc(attrgetter(referred)(qn).__doc__).partition("\n\n")[2]
    entries, gap, behind = own.partition("\n\n")
    if entries == ".":
        assert whole == before + rest + gap + behind
    else:
        assert set(entries.splitlines()[1:]) <= set(whole.splitlines())
        assert unindented(whole) == unindented(before + rest + gap + behind)


@pytest.mark.parametrize("path", SHARED, ids=str)
def test_what_numpy_says_is_not_said_again(path):
    again = repeated((TORCH / path).read_text("utf-8"), (NUMPY / path).read_text("utf-8"))
    assert again == [], "say it by reference: a first line, and 'As `qkv.numpy.NAME`.'"


FUNCTION = '''
def f(x):
    """One.

    Args:
        x: two.
    """
'''
LAYER = '''
class C:
    def __call__(x):
        """One.

        Two.
        Three.
        """

    def short(x):
        """One.

        Two.
        """
'''


def test_a_docstring_said_again_is_found():
    torch_code = FUNCTION + LAYER.replace("__call__", "forward")
    assert repeated(torch_code, FUNCTION + LAYER) == ["f", "C.forward"]
    assert repeated(torch_code.replace("two", "2"), FUNCTION + LAYER) == ["C.forward"]


ROOM = ModuleType("room")
ROOM.layer = lambda: None
ROOM.layer.__doc__ = """A layer.

    Mixes.

    Args:
        x: of any
            shape.
        rng: its own.
        dtype: of x.
    Returns:
        y.
    Source: somebody.
    """


def test_own_entries_take_the_place_of_those_of_their_name_or_come_last():
    own = """A layer for a GPU.

        As `room.layer`, with:
            rng: torch's
                own.
            dtype, device: of x.
            stream: of the GPU.

        It is fast.
        """
    assert whole_docstring(own, ROOM).splitlines() == [
        "A layer for a GPU.",
        "",
        "Mixes.",
        "",
        "Args:",
        "    x: of any",
        "        shape.",
        "    rng: torch's",
        "        own.",
        "    dtype, device: of x.",
        "    stream: of the GPU.",
        "Returns:",
        "    y.",
        "Source: somebody.",
        "",
        "It is fast.",
    ]


def referring(documented):
    documented.__doc__ = "First.\n\nAs `room.layer`."
    return documented


@pytest.fixture
def part():
    """A module of a package, with all kinds of what has a docstring."""

    @referring
    class Layer:
        @classmethod
        @referring
        def from_config(cls):
            pass

        @staticmethod
        @referring
        def static():
            pass

        @property
        @referring
        def width(self):
            pass

    @referring
    class Parts(NamedTuple):
        x: int

    class Inherits(Layer):
        pass

    @wraps(referring(lambda: None))
    def decorated():
        pass

    module = ModuleType("package.part")
    for name, value in {
        "Layer": Layer,
        "Parts": Parts,
        "Inherits": Inherits,
        "decorated": decorated,
    }.items():
        value.__module__ = module.__name__
        setattr(module, name, value)
    sys.modules[module.__name__] = module
    yield module
    del sys.modules[module.__name__]


def test_every_kind_of_docstring_becomes_whole(part):
    inherit_docstrings("package", ROOM)
    layer, rest = part.Layer, inspect.cleandoc(ROOM.layer.__doc__).removeprefix("A layer.")
    documented = layer, layer.from_config, layer.static, layer.width, part.Parts, part.decorated
    for value in (*documented, part.Inherits.from_config):
        assert value.__doc__ == "First." + rest
    assert part.Inherits.__doc__ is None


def test_a_reference_to_nothing_is_refused(part):
    part.decorated.__doc__ = "First.\n\nAs `room.nothing`."
    with pytest.raises(AttributeError, match="'room' has no attribute 'nothing'"):
        inherit_docstrings("package", ROOM)


@pytest.mark.parametrize(
    "line", ["As `room.layer`", "As `room.layer`, but:", "As `room.layer`. So."]
)
def test_a_reference_in_another_form_is_refused(line):
    with pytest.raises(ValueError, match="a line of its own"):
        whole_docstring(f"First.\n\n{line}", ROOM)


def test_the_room_does_without_docstrings():
    found = run_python(
        "import qkv.torch as qt; print(qt.softmax.__doc__)",
        env={**os.environ, "PYTHONOPTIMIZE": "2"},
    )
    assert found.stdout.strip() == "None", found.stderr
