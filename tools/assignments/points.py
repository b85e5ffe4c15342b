"""points.csv: which exercises are asked, and what each is worth.

Without a table of the teacher's own, every exercise is worth a point for each minute it states.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from qkv.language import gettext
from qkv.notebooks.exercise_cells import ExerciseCells

COLUMNS = ("exercise", "part", "title", "minutes", "points")
NEEDED = ("exercise", "points")


class AssignmentError(Exception):
    """Why no assignments were written, as a message for the teacher."""


def default_points(exercises: Sequence[ExerciseCells]) -> dict[str, float]:
    return {one.name: one.minutes for one in exercises}


def table(exercises: Sequence[ExerciseCells], points: Mapping[str, float]) -> str:
    """The exercises that are asked, as the text of points.csv."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in exercises:
        if one.name in points:
            part = "further" if one.further else "core"
            writer.writerow([one.name, part, one.title, one.minutes, f"{points[one.name]:g}"])
    return text.getvalue()


def read_points(path: Path, exercises: Sequence[ExerciseCells]) -> dict[str, float]:
    """What each exercise of a teacher's table is worth.

    Raises:
        AssignmentError: the table cannot be used.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows, columns = list(reader), reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        message = gettext("{file} cannot be read as a table: {error}.")
        raise AssignmentError(message.format(file=path, error=error)) from None
    for column in NEEDED:
        if column not in columns:
            message = gettext(
                "{file} has no column {column}; it needs the columns exercise and points, "
                "separated by a comma."
            )
            raise AssignmentError(message.format(file=path, column=column))
    known, points = {one.name for one in exercises}, {}
    for row in rows:
        name = (row["exercise"] or "").strip()
        if name not in known:
            message = gettext("{file}: there is no exercise {name!r}; names look like masks-2.")
            raise AssignmentError(message.format(file=path, name=name))
        if name in points:
            message = gettext("{file} lists {name} twice; leave one of the two lines.")
            raise AssignmentError(message.format(file=path, name=name))
        points[name] = as_points(path, name, row["points"] or "")
    if not points:
        message = gettext("{file} lists no exercise; those that it lists are the ones asked.")
        raise AssignmentError(message.format(file=path))
    return points


def as_points(path: Path, name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        message = gettext("{file}: {name} is worth {text!r}; points are a number from 0 up.")
        raise AssignmentError(message.format(file=path, name=name, text=text))
    return int(value) if value == int(value) else value
