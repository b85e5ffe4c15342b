"""A course folder as nbgrader lays it out: source/ with solutions, release/ without, its settings.

Everything is made aside and moved into place when it is whole. What the teacher has there beside it
(submitted/, autograded/, feedback/, other assignments) stays.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat

from qkv.language import gettext
from qkv.notebooks.exercise_cells import exercises_of
from tools.assignments import words
from tools.assignments.notebooks import assignment
from tools.assignments.points import AssignmentError, default_points, read_points, table
from tools.assignments.requirements import requirements

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
SETTINGS = "nbgrader_config.py"
CONFIG = """\
# Settings of nbgrader for the assignments of The Runnable Transformer.
c = get_config()
c.ClearSolutions.code_stub = {"python": ""}  # what is left is the line `answer_1 = ...`
c.Execute.timeout = 300  # seconds for one cell
"""


def make_course(folder: Path, points_file: Path | None = None) -> list[str]:
    """Write the assignments; their names.

    Args:
        folder: the course folder.
        points_file: a table of the teacher's own; without one a point for each stated minute.
    Raises:
        AssignmentError: a table that cannot be used, or what nbgrader refuses.
    """
    chapters = {path.stem: nbformat.read(path, 4) for path in sorted(CHAPTERS.glob("*.ipynb"))}
    exercises = [one for notebook in chapters.values() for one in exercises_of(notebook.cells)]
    points = read_points(points_file, exercises) if points_file else default_points(exercises)
    if importlib.util.find_spec("nbgrader") is None:
        message = gettext("nbgrader is not installed; `pip install 'qkv[teach]'` installs it.")
        raise AssignmentError(message)
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # what an interrupted run left
    names = write_sources(part / "source", chapters, points)
    files = {
        SETTINGS: CONFIG,
        "points.csv": table(exercises, points),
        "README.md": words.readme(names),
    }
    for name, text in files.items():
        (part / name).write_text(text, encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    release(part, folder / "gradebook.db", names)
    for made in ("source", "release"):
        (folder / made).mkdir(exist_ok=True)
        for name in chapters:
            shutil.rmtree(folder / made / name, ignore_errors=True)
            if name in names:
                (part / made / name).replace(folder / made / name)
    for name in files:
        (part / name).replace(folder / name)
    shutil.rmtree(part)
    return names


def write_sources(
    folder: Path, chapters: Mapping[str, Any], points: Mapping[str, float]
) -> list[str]:
    """One notebook for each chapter of which something is asked; their names."""
    names = []
    for name, chapter in chapters.items():
        if any(one.name in points for one in exercises_of(chapter.cells)):
            title = re.search(r"^# (.+)$", chapter.cells[0].source, re.MULTILINE)
            opening = words.opening(int(name[:2]), title[1] if title else name)
            made = assignment(chapter, opening, points)
            (folder / name).mkdir(parents=True)
            nbformat.write(made, folder / name / f"{name}.ipynb")
            (folder / name / "requirements.txt").write_text(requirements(made), encoding="utf-8")
            names.append(name)
    return names


def release(course: Path, gradebook: Path, names: Sequence[str]) -> None:
    """`nbgrader generate_assignment` for each: its release, and its entry in the gradebook."""
    # nbgrader starts `alembic`, and finds it on PATH alone.
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    nbgrader, traitlets = map(importlib.import_module, ("nbgrader.apps", "traitlets.config"))
    settings = traitlets.PyFileConfigLoader(SETTINGS, path=str(course)).load_config()
    settings.CourseDirectory.root = str(course)
    settings.CourseDirectory.db_url = f"sqlite:///{gradebook}"
    api = nbgrader.NbGraderAPI(config=settings)
    api.log_level = "ERROR"
    for name in names:
        result = api.generate_assignment(name)
        if not result["success"]:
            message = gettext("nbgrader could not make the release of {name}:\n{log}")
            log = (result.get("error") or result.get("log") or "").strip()
            raise AssignmentError(message.format(name=name, log=log))
