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

from qkv.language import ENGLISH, gettext, using_language
from qkv.notebooks.exercise_cells import ExerciseCells, exercises_of
from tools.assignments import words
from tools.assignments.notebooks import assignment
from tools.assignments.points import AssignmentError, default_points, read_points, table
from tools.assignments.requirements import requirements
from tools.editions import notebooks_in

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
SETTINGS = "nbgrader_config.py"
CONFIG = """\
# Settings of nbgrader for the assignments of The Runnable Transformer.
c = get_config()
c.ClearSolutions.code_stub = {"python": ""}  # what is left is the line `answer_1 = ...`
c.Execute.timeout = 300  # seconds for one cell
"""


def make_course(
    folder: Path, points_file: Path | None = None, language: str = ENGLISH
) -> list[str]:
    """Write the assignments; their names, none if the table asks for no chapter of the language.

    Args:
        folder: the course folder.
        points_file: a table of the teacher's own; without one a point for each stated minute.
        language: of the chapters, and of what is said to students and in the folder's README.md.
    Raises:
        AssignmentError: a table that cannot be used, or what nbgrader refuses.
    """
    chapters, exercises = read_chapters(language)
    if points_file:
        _, known = read_chapters(ENGLISH)  # a table holds in every language
        points = read_points(points_file, known)
    else:
        points = default_points(exercises)
    if not any(one.name in points for one in exercises):
        return []
    if importlib.util.find_spec("nbgrader") is None:
        message = gettext("nbgrader is not installed; `pip install 'qkv[teach]'` installs it.")
        raise AssignmentError(message)
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # what an interrupted run left
    with using_language(language):
        names = write_sources(part / "source", chapters, points)
        readme = words.readme(names)
    files = {SETTINGS: CONFIG, "points.csv": table(exercises, points), "README.md": readme}
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


def read_chapters(language: str) -> tuple[dict[str, Any], list[ExerciseCells]]:
    """The chapters of a language by name, and their exercises."""
    chapters = {path.stem: nbformat.read(path, 4) for path in notebooks_in(CHAPTERS, language)}
    return chapters, [one for chapter in chapters.values() for one in exercises_of(chapter.cells)]


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
