"""What the page for teachers says of chapters, explorers and exercises, read from them.

    {chapter}`3`                    its number and title, linked; {lesson}`3` leads to (lesson-3)=
    {times}`3`                      its minutes: to read, of exercises, of *Going further*
    {exercise}`masks-3`             linked, with its minutes; {question}`masks-3` with its title
    {wrong}`masks-3: "AB"`          an answer, and what `check` says of it
    {state}`masks-29: mask = none`  the explorer of a cell, linked, and what to set there; what is
                                    not named stays as it opens. {set}`masks-29: …` leaves out the
                                    explorer's name
    ```{course}                     a table; to each row, and below all, it adds their minutes

A role that no longer fits what it speaks of is a warning, and so stops the build.
"""

import ast
import os
import re
from pathlib import Path
from typing import Any

from book_facts import parsed
from docutils import nodes
from lesson_facts import (
    Stale,
    chapter_of,
    exercise_of,
    explorer_of,
    name_of,
    read,
    remark,
    settings,
    shown,
)
from same_anchors import SOURCES
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.logging import getLogger

from qkv.explore.start_map import Chapter, duration
from qkv.language import gettext
from qkv.notebooks.exercise_cells import TITLE

LOGGER = getLogger(__name__)
LESSON, TASK = re.compile(r"{lesson}`(\d+)`"), re.compile(r"{exercise}`([\w-]+)`")


def notebook_of(
    env: BuildEnvironment, chapter: Chapter, folder: Path | None = None
) -> dict[str, Any]:
    """The notebook of a chapter; the page is read again when it changes.

    Args:
        folder: of the sources of another edition than the one that is built.
    """
    path = Path(folder or env.srcdir, "chapters", f"{chapter.notebook}.ipynb")
    env.note_dependency(str(path))
    return read(path, path.stat().st_mtime_ns)


class Teaching(SphinxRole):
    """Each role by the method of its name; a `Stale` becomes a warning."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        try:
            return getattr(self, f"show_{self.name}")(self.text), []
        except (Stale, SyntaxError) as error:
            LOGGER.warning(f"{{{self.name}}}`{self.text}`: {error}", location=self.get_location())
            return [nodes.problematic("", self.text)], []

    def link(self, kind: str, target: str, text: str) -> nodes.Node:
        reference = addnodes.pending_xref(
            "", nodes.inline("", text), refdomain="std", reftype=kind, reftarget=target
        )
        reference["refdoc"], reference["refexplicit"] = self.env.docname, True
        reference["refwarn"] = True
        return reference

    def show_chapter(self, number: str) -> list[nodes.Node]:
        chapter = chapter_of(number)
        return [self.link("doc", f"/chapters/{chapter.notebook}", name_of(chapter))]

    def show_lesson(self, number: str) -> list[nodes.Node]:
        return [self.link("ref", f"lesson-{number}", name_of(chapter_of(number)))]

    def show_times(self, number: str) -> list[nodes.Node]:
        return [nodes.Text(" + ".join(map(str, chapter_of(number).minutes)))]

    def show_exercise(self, name: str) -> list[nodes.Node]:
        _, minutes = exercise_of(notebook_of(self.env, chapter_of(name)), name)
        text = gettext("{name} ({minutes})").format(name=name, minutes=minutes)
        link = self.link("ref", f"exercise-{name}", text)
        return [nodes.inline("", "", link, classes=["qkv-nowrap"])]

    def show_question(self, name: str) -> list[nodes.Node]:
        title, minutes = exercise_of(notebook_of(self.env, chapter_of(name)), name)
        text = gettext("{name}, {title} ({minutes} min)")
        text = text.format(name=name, title=title, minutes=minutes)
        return [self.link("ref", f"exercise-{name}", text)]

    def show_wrong(self, text: str) -> list[nodes.Node]:
        name, _, answer = text.partition(": ")
        mistake, hint = remark(name, ast.literal_eval(answer))
        parts = [nodes.literal("", answer), nodes.Text(f" → {mistake} "), nodes.emphasis("", hint)]
        return list(parts)

    def show_state(self, text: str) -> list[nodes.Node]:
        cell_id, title, chosen = self.stated(text)
        opening = gettext("as it opens")
        return [
            self.link("ref", cell_id, title),
            nodes.Text(f" ({chosen or opening})"),
        ]

    def show_set(self, text: str) -> list[nodes.Node]:
        cell_id, _, chosen = self.stated(text)
        return [self.link("ref", cell_id, chosen)]

    def stated(self, text: str) -> tuple[str, str, str]:
        """The cell, the explorer's title, and what to set there, which is on its grid."""
        cell_id, _, chosen = text.partition(": ")
        chapter = chapter_of(cell_id)
        english = Path(os.environ.get(SOURCES, self.env.srcdir))
        explorer, original = (
            explorer_of(notebook_of(self.env, chapter, folder), cell_id)
            for folder in (Path(self.env.srcdir), english)
        )
        return cell_id, explorer["title"], shown(explorer, settings(original, chosen))


class CourseDirective(SphinxDirective):
    """A table of Markdown with a last column: minutes to read, and of the exercises."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        head, rule, *rows = (line.rstrip().removesuffix("|") for line in self.content)
        try:
            times = [self.minutes(row) for row in rows]
        except Stale as error:
            raise self.error(str(error)) from None
        read_and_do, every = gettext("read + do (min)"), gettext("all")
        lines = [f"{head}| {read_and_do} |", f"{rule}|---|"]
        lines += [f"{row}| {r} + {d} |" for row, (r, d) in zip(rows, times, strict=True)]
        total = " + ".join(duration(sum(part)) for part in zip(*times, strict=True))
        blanks = " |" * head.count("|")
        return parsed(self, [*lines, f"| **{every}**{blanks} **{total}** |"])

    def minutes(self, text: str) -> tuple[int, int]:
        """To read the cores of the lessons in a text, and of its exercises."""
        tasks = [(chapter_of(name), name) for name in TASK.findall(text)]
        return (
            sum(chapter_of(number).minutes[0] for number in LESSON.findall(text)),
            sum(exercise_of(notebook_of(self.env, one), name)[1] for one, name in tasks),
        )


def label_exercises(app: Sphinx, document: nodes.document) -> None:
    """Give the heading of each exercise a label, "exercise-masks-3"."""
    labels = app.env.get_domain("std").data["anonlabels"]
    for section in document.findall(nodes.section):
        if found := TITLE.match(section[0].astext()):
            labels[f"exercise-{found['name']}"] = (app.env.docname, section["ids"][0])


def setup(app: Sphinx) -> dict[str, Any]:
    for name in ("chapter", "lesson", "times", "exercise", "question", "wrong", "state", "set"):
        app.add_role(name, Teaching())
    app.add_directive("course", CourseDirective)
    app.connect("doctree-read", label_exercises)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
