"""What the roles of teaching.py speak of, read from the chapters; `Stale` if it is not there."""

import functools
import json
from pathlib import Path
from typing import Any

from qkv.exercises import check
from qkv.explore.start_map import BOOK, Chapter
from qkv.language import gettext
from qkv.notebooks.exercise_cells import exercises_of
from qkv.notebooks.widget_state import EXPLORER_ID, STATE_MIME, renumber, views_of


class Stale(ValueError):
    """What a role says does not hold of the chapters."""


def chapter_of(name: str) -> Chapter:
    """The chapter of a number, a cell or an exercise: "3", "attention-36"."""
    concept = name.rpartition("-")[0]
    for chapter in BOOK:
        if name == str(chapter.number) or concept == chapter.concept:
            return chapter
    raise Stale(f"no chapter {name!r}: write its number, or a name such as 'masks-3'")


def name_of(chapter: Chapter) -> str:
    """Its number and its title, in the language of the page."""
    return f"{chapter.number} · {gettext(chapter.short_title)}"


@functools.cache
def read(path: Path, _: int) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def exercise_of(notebook: dict[str, Any], name: str) -> tuple[str, int]:
    """Its title and the minutes that it states."""
    for exercise in exercises_of(notebook["cells"]):
        if exercise.name == name:
            return exercise.title, exercise.minutes
    raise Stale(f"no exercise {name!r} in its chapter")


def explorer_of(notebook: dict[str, Any], cell_id: str) -> dict[str, Any]:
    """The stored state of the explorer that a cell shows."""
    models = notebook["metadata"].get("widgets", {}).get(STATE_MIME, {"state": {}})["state"]
    views = [view for c in notebook["cells"] if c["id"] == cell_id for view in views_of(c)]
    for model_id in renumber(models, [view["model_id"] for view in views]):
        state: dict[str, Any] = models[model_id]["state"]
        if state.get("_anywidget_id") == EXPLORER_ID:
            return state
    raise Stale(f"no explorer in cell {cell_id!r}")


def settings(explorer: dict[str, Any], text: str) -> dict[str, int]:
    """What "mask = none; padding = 2" sets: {name of an axis: position on its grid}.

    Args:
        explorer: that of the English chapter: roles are written alike in every edition.
    """
    axes = {axis["label"]: axis for axis in explorer["axes"]}
    chosen = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, _, choice = (piece.strip() for piece in part.partition(" = "))
        if name not in axes:
            raise Stale(f"{explorer['title']!r} has no {name!r}, but {', '.join(axes)}")
        texts = axes[name]["texts"]
        if choice not in texts:
            known = ", ".join(texts)
            raise Stale(f"{explorer['title']!r} has no {name} = {choice}, but {known}")
        chosen[axes[name]["name"]] = texts.index(choice)
    return chosen


def shown(explorer: dict[str, Any], chosen: dict[str, int]) -> str:
    """Settings as an explorer words them, in its own language."""
    axes = {axis["name"]: axis for axis in explorer["axes"]}
    return "; ".join(
        f"{axes[name]['label']} = {axes[name]['texts'][place]}" for name, place in chosen.items()
    )


def remark(name: str, answer: object) -> tuple[str, str]:
    """The mistake that `check` names in a wrong answer, and its hint."""
    verdict = check(name, answer)
    if verdict.state != "wrong":
        raise Stale(f"{name}: {answer!r} is {verdict.state}, not wrong")
    if verdict.text == check(name, another(answer)).text:
        raise Stale(f"{name}: of {answer!r} the check says no more than of any other wrong answer")
    return verdict.text, verdict.hint


def another(answer: Any) -> Any:
    """An answer of the same form that nobody would give."""
    if isinstance(answer, list | tuple):
        return [another(part) for part in answer]
    return "" if isinstance(answer, str) else 1.37 * answer + 0.11
