"""A course made by `make assignments`, submissions to it, and the points that nbgrader gives."""

import csv
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import nbformat

from tests.helpers.waiting import WAIT_SECONDS


def read(course: Path, part: str, name: str) -> Any:
    return nbformat.read(course / part / name / f"{name}.ipynb", as_version=4)


def of_nbgrader(notebook: Any, key: str) -> dict[str, Any]:
    """The cells for which nbgrader's metadata say this: "grade", "solution", "locked"."""
    cells = (cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get(key))
    return {cell.metadata.nbgrader.grade_id: cell for cell in cells}


def submit(course: Path, student: str, name: str, change: Callable[[Any], None]) -> None:
    """Hand in a release as the student has changed it."""
    notebook = read(course, "release", name)
    change(notebook)
    folder = course / "submitted" / student / name
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{name}.ipynb")


def answer(course: Path, name: str, exercises: Iterable[str], otherwise: str = "") -> Any:
    """Put the solutions of these exercises in, and `answer_3 = <otherwise>` for all others."""
    solutions = of_nbgrader(read(course, "source", name), "solution")
    chosen = {f"{one}-answer" for one in exercises}

    def change(notebook: Any) -> None:
        for grade_id, cell in of_nbgrader(notebook, "solution").items():
            if grade_id in chosen:
                cell.source = solutions[grade_id].source
            elif otherwise:
                cell.source += f"\nanswer_{grade_id.split('-')[1]} = {otherwise}"

    return change


def nbgrader(course: Path, *arguments: str) -> None:
    """Run nbgrader in the course, as a teacher does, with the settings that are there."""
    place = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(
        command,
        cwd=course,
        env={**os.environ, "PATH": place},
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
    )
    assert done.returncode == 0, done.stderr


def exported(course: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """Points given and points there are, of each student and assignment, by `nbgrader export`."""
    nbgrader(course, "export", "--to", "grades.csv")
    with (course / "grades.csv").open(encoding="utf-8") as file:
        return {
            (row["student_id"], row["assignment"]): (float(row["score"]), float(row["max_score"]))
            for row in csv.DictReader(file)
        }
