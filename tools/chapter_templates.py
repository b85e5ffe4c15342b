"""The files of a new chapter as tools/new_chapter.py lays them out, {name} being its concept."""

BEFORE = [  # text or code in front of the exercises
    """# TODO: the title

*Read: 0 minutes. Exercises: 0. Going further: 0.*

TODO: a plain sentence on what this is for.

After the core you will be able to

- TODO: a line for each exercise of the core.

TODO: **a question to guess at?**""",
    """from qkv.exercises import check
from qkv.explore import explore
from qkv.explore import {name} as explorers""",
    """## By hand: TODO

TODO: the smallest example, with numbers that a pencil can follow.""",
    """print("TODO: a loop, then matrices, then an assert that they agree")""",
    """## The formula and its code

TODO: the idea in words, one picture, the formula with every symbol's shape.""",
    """## Move it yourself

TODO: what the explorer shows at the start, and what to see in it.""",
    """assert list(explorers.bars(size=2)["bars"].values) == [2]  # TODO: what it shows
explore(explorers.bars, title="TODO", hint="TODO: what to try first.", size=[1, 2, 4])""",
    """## What breaks

TODO: at most three things, the wrong line beside the right one.""",
    """## What to remember

TODO: what stays, and the answer to the question.""",
    """## Exercises

TODO: from "compute by hand" to "break it" to "build it".""",
]
BEHIND = [
    """## Going further

### TODO: a question that a reader may skip?

TODO: where the rule ends, a trained model, PyTorch, Backward.""",
    """## Sources and further reading

TODO: with links in square brackets.""",
]
IMPORTS_METADATA = {
    "mystnb": {"code_prompt_hide": "Imports", "code_prompt_show": "Imports"},
    "tags": ["hide-input"],
}
ROOM = '''"""The concept of the chapter {name}."""

__all__: list[str] = []  # TODO: its public names{more}
'''
EXPLORER = '''"""Explorer of the chapter {name}."""

from __future__ import annotations

from qkv.explore.framework.panels import Bars, Panels


def bars(*, size: int) -> Panels:
    """What a slider shows."""
    # TODO: the panels of the chapter
    return {{"bars": Bars([size], ["size"])}}
'''
CHECKS = '''"""The exercises of the chapter {name}: the check of each answer."""

from __future__ import annotations

from qkv.exercises.checks import exercise
'''
ROOM_TESTS = '''"""The concept of the chapter {name}, in both rooms."""

import pytest


def test_it_is_tried():
    # TODO: shapes, values by hand, gradients, NumPy against torch, refusals
    pytest.fail("the rooms of {name} have no tests")
'''
EXPLORER_TESTS = '''"""The explorer of the chapter {name}."""

from qkv.explore.{name} import bars


def test_it_shows_the_size():
    # TODO: the claims that the chapter makes of it
    assert list(bars(size=2)["bars"].values) == [2]
'''
EXERCISE_TESTS = '''"""The exercises of the chapter {name}: what passes, what gets which hint."""

from tests.helpers.exercises import ExerciseAnswers

RIGHT = {{
}}
WRONG = {{
}}


class TestAnswers(ExerciseAnswers):
    right, wrong = RIGHT, WRONG
'''
ROW = "| {words} | `{name}.py` | `{name}.py` | `{name}.py` | `test_{name}.py` |\n"
LATER = """\
Write what is marked TODO there, or delete what the concept does not need, with its row in
CONTRIBUTING.md. Beside these files it may concern: a box for it in src/qkv/explore/start_map.py,
book/glossary.md, book/formulas.md, book/common_mistakes.md, book/library.rst, tools/mutants.toml,
src/qkv/javascript, CHANGELOG.md. Then: .venv/bin/python tools/run_notebooks.py {name},
`make facts`, `make test`."""
