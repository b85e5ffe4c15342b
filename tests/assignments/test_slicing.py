"""What an exercise needs of the chapter before it, and nothing more."""

import ast

import pytest

from tools.assignments.slicing import Slice, imported_names, names_read


def needed_for(code, *cells):
    cut = Slice(frozenset(name for cell in cells for name in imported_names(cell)))
    cut.need(code)
    return [cut.keep(cell) for cell in reversed(cells)][::-1]


@pytest.mark.parametrize(
    ("code", "cells", "kept"),
    [
        ("print(a)", ["a = 1\nb = 2"], ["a = 1"]),
        ("print(a)", ["b = 2\na = b + 1", "c = 3"], ["b = 2\na = b + 1", ""]),
        ("print(a)", ["a = 1", "a = 2  # the last counts"], ["", "a = 2  # the last counts"]),
        ("print(a)", ["a = [1]\na.append(2)\nprint(a)"], ["a = [1]\na.append(2)"]),
        ("print(a)", ["a = [1]", "a[0] = 2", "a[0] += 3"], ["a = [1]", "a[0] = 2", "a[0] += 3"]),
        ("print(a)", ["a = 1\na += b", "b = 3"], ["a = 1\na += b", ""]),
        ("print(a)", ["a, (b, *c) = 1, (2, 3)"], ["a, (b, *c) = 1, (2, 3)"]),
        ("f()", ["b = 2\n\n\ndef f():\n    return b"], ["b = 2\n\n\ndef f():\n    return b\n\n"]),
        ("f()", ["b = 2\n\n\ndef f(b):\n    return b"], ["\n\ndef f(b):\n    return b\n\n"]),
        ("f()", ["g = list\n@g\ndef f(): ..."], ["g = list\n\n\n@g\ndef f(): ...\n\n"]),
        ("m.x", ["import os, math as m", "m.seed(1)"], ["import math as m", ""]),
        ("x = 1\nprint(x)", ["x = 2"], [""]),
        ("for x in y: print(x)", ["x = 2\ny = 3"], ["y = 3"]),
        ("print([x for x in y])", ["x = 2\ny = 3"], ["y = 3"]),
        (
            "print(a)",
            ["a = 1\nfor i in [2]:\n    a = a + i"],
            ["a = 1\nfor i in [2]:\n    a = a + i"],
        ),
        ("with a as b: print(b)", ["a = 1\nb = 2"], ["a = 1"]),
        ("print((b := a), b)", ["a = 1\nb = 2"], ["a = 1"]),
        ("lambda a: a + b", ["a = 1\nb = 2"], ["b = 2"]),
    ],
)
def test_statements_that_are_needed(code, cells, kept):
    assert needed_for(code, *cells) == kept


def test_a_name_is_read_if_its_value_from_before_is():
    def read(code):
        return names_read(ast.parse(code).body[0])

    assert read("a = a + b") == {"a", "b"}
    assert read("for a in b:\n    c = a\n    d = c + e") == {"b", "e"}
    assert read("class A(B):\n    x = y\n    def f(self): return z") == {"B", "y", "z"}
    assert read("{k: v + w for k, v in d.items()}") == {"d", "w"}
