"""Exercises whose answer is chosen: their names, and the choice that is right."""

from __future__ import annotations

import itertools
from pathlib import Path

from qkv.exercises.checks import check_choice, choices_of, load_exercises

CHAPTERS = sorted((Path(__file__).parents[2] / "chapters").glob("*.ipynb"))
FUNCTIONS = {
    name: function
    for path in CHAPTERS
    for name, function in load_exercises(path.stem.partition("_")[2]).items()
}
CHOSEN = [name for name in FUNCTIONS if choices_of(name)]


def right_keys(name: str) -> tuple[str, ...]:
    """The key of each part of the right answer."""
    every = itertools.product(*(part.every_key() for part in choices_of(name)))
    return next(keys for keys in every if check_choice(name, keys))
