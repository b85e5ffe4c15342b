"""Who imports whom: nothing imports upward, and the NumPy room never meets torch."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import qkv.numpy as qn

SOURCE = Path(qn.__file__).parents[1]
FLOORS = [
    {"shapes", "config", "files"},
    {"numpy", "torch"},
    {"bridge", "text", "corpus"},
    {"checkpoint"},
    {"translator"},
    {"pretrained"},
    {"explore", "exercises", "plot", "live"},
    {"commands"},
]
BLIND = [{"numpy", "torch"}, {"explore", "exercises"}]


def upward(part, code):
    """What the code of a module in `part` imports from above, or from a part it is blind to."""
    floor = {name: n for n, names in enumerate(FLOORS) for name in names}
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            names = [alias.name for alias in node.names]
            modules = [f"qkv.{n}" for n in names] if node.module == "qkv" else [node.module]
        else:
            continue
        for module in modules:
            package, _, rest = module.partition(".")
            other = rest.partition(".")[0]
            if part == "numpy" and package == "torch":
                found.add("torch")
            if package == "qkv" and other in floor:
                blind = part != other and any({part, other} <= pair for pair in BLIND)
                if floor[other] > floor[part] or blind:
                    found.add(other)
    return found


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.name))
def test_nothing_imports_upward(path):
    part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if part == "__init__":
        tree = ast.parse(path.read_text())
        assert not any(isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body)
    else:
        assert upward(part, path.read_text()) == set()


@pytest.mark.parametrize(
    ("part", "code", "found"),
    [
        ("numpy", "from qkv.torch import softmax", {"torch"}),
        ("numpy", "def f():\n    import torch.nn", {"torch"}),
        ("torch", "import qkv.numpy as qn", {"numpy"}),
        ("shapes", "from qkv import plot", {"plot"}),
        ("exercises", "from qkv.explore.masks import picture", {"explore"}),
        ("numpy", "from qkv.explore import explore", {"explore"}),
        ("explore", "import qkv.torch as qt\nfrom qkv.plot import COLOURS", set()),
    ],
)
def test_the_scan_finds_what_imports_upward(part, code, found):
    assert upward(part, code) == found


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_the_numpy_room_does_not_import_torch():
    found = run("import sys, qkv.numpy; print([m for m in sys.modules if 'torch' in m])")
    assert found.stdout.strip() == "[]", found.stderr


def test_the_numpy_room_works_where_there_is_no_torch():
    found = run(
        "import sys; sys.modules['torch'] = None\n"
        "import numpy as np, qkv.numpy as qn\n"
        "x = np.ones((2, 3)); print(qn.scaled_dot_product_attention(x, x, x, causal=True)[0].sum())"
    )
    assert found.stdout.strip() == "6.0", found.stderr


def test_the_numpy_room_loads_nothing_but_numpy():
    """So it is there in about the time that NumPy takes, and works where nothing else is."""
    found = run(
        "import sys, numpy.random; known = {*sys.modules, *sys.stdlib_module_names}\n"
        "import qkv.numpy\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} - known))"
    )
    assert found.stdout.strip() == "['qkv']", found.stderr
