"""Who imports whom: nothing imports upward, and the NumPy room never meets torch."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import qkv.numpy as qn
from tests.helpers.processes import run_python

SOURCE = Path(qn.__file__).parents[1]
FLOORS = [
    {"shapes", "config", "decoding", "files", "learning_rate_schedules"}
    | {"public_names", "docstrings", "language"},
    {"numpy", "torch"},
    {"bridge", "text", "corpus", "bleu"},
    {"checkpoint", "hugging_face"},
    {"translator"},
    {"pretrained"},
    {"plot", "fonts", "counting", "onnx", "javascript"},
    {"trainer"},
    {"experiments", "explore", "exercises"},
    {"notebooks"},
    {"live"},
    {"commands"},
]
BLIND = [{"numpy", "torch"}, {"explore", "exercises", "experiments"}]
EXCEPTED = {
    "torch/__init__.py": {"numpy"},  # docstrings, and nothing else
    "explore/efficient_recall.py": {"experiments"},  # trainings that were stored, to be drawn
    "explore/training.py": {"experiments"},  # the same
}


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
        excepted = EXCEPTED.get(path.relative_to(SOURCE).as_posix(), set())
        assert upward(part, path.read_text()) == excepted


@pytest.mark.parametrize(
    ("part", "code", "found"),
    [
        ("numpy", "from qkv.torch import softmax", {"torch"}),
        ("numpy", "def f():\n    import torch.nn", {"torch"}),
        ("torch", "import qkv.numpy as qn", {"numpy"}),
        ("shapes", "from qkv import plot", {"plot"}),
        ("exercises", "from qkv.explore.masks import picture", {"explore"}),
        ("numpy", "from qkv.explore import explore", {"explore"}),
        ("explore", "from qkv.experiments.stored_results import stored_result", {"experiments"}),
        ("exercises", "def f():\n    from qkv import experiments", {"experiments"}),
        ("explore", "import qkv.torch as qt\nfrom qkv.plot import COLOURS", set()),
        ("trainer", "import torch\nfrom qkv.plot import COLOURS", set()),
        ("trainer", "from qkv.commands.messages import counted", {"commands"}),
        ("plot", "from qkv.trainer import History", {"trainer"}),
    ],
)
def test_the_scan_finds_what_imports_upward(part, code, found):
    assert upward(part, code) == found


def modules_named_in(code):
    """Every module that an import names, also one for the type checker alone."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def import_order(sources):
    """Modules {name: code} in an order in which each comes after all that it imports."""
    graph = {name: sources.keys() & set(modules_named_in(code)) for name, code in sources.items()}
    return list(TopologicalSorter(graph).static_order())


def test_no_modules_import_each_other():
    paths = [path for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
    names = [".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in paths]
    sources = {name: path.read_text() for name, path in zip(names, paths, strict=True)}
    assert len(import_order(sources)) == len(sources)


def test_a_circle_for_the_type_checker_alone_is_one():
    one = "if TYPE_CHECKING:\n    from qkv.two import Two"
    with pytest.raises(CycleError, match=r"qkv\.one.*qkv\.two"):
        import_order({"qkv.one": one, "qkv.two": "from qkv import one"})


def test_the_numpy_room_does_not_import_torch():
    found = run_python("import sys, qkv.numpy; print([m for m in sys.modules if 'torch' in m])")
    assert found.stdout.strip() == "[]", found.stderr


def test_the_numpy_room_works_where_there_is_no_torch():
    found = run_python(
        "import sys; sys.modules['torch'] = None\n"
        "import numpy as np, qkv.numpy as qn\n"
        "x = np.ones((2, 3)); print(qn.scaled_dot_product_attention(x, x, x, causal=True)[0].sum())"
    )
    assert found.stdout.strip() == "6.0", found.stderr


def test_the_numpy_room_loads_nothing_but_numpy():
    """So it is there in about the time that NumPy takes, and works where nothing else is."""
    found = run_python(
        "import sys, numpy.random; known = {*sys.modules, *sys.stdlib_module_names}\n"
        "import qkv.numpy\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} - known))"
    )
    assert found.stdout.strip() == "['qkv']", found.stderr
