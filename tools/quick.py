"""What `make quick` runs: lint, types, and the tests of the concepts that have changed.

The tables *Where things are* in CONTRIBUTING.md name the tests of a file in the rooms, with the
explorers and exercises of its concept. Any other file has the tests that are named like it, or like
a folder of it, in its part's folder of tests: src/qkv/explore/efficient_low_rank.py has
tests/explore/test_explore_efficient.py. Where none are named so, it has all of that folder.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from tools.failures import PACKAGE, ROOMS, changed_files
from tools.steps import IN_HALVES, SEPARATE_STEPS, STEPS, Step, pytest

ROOT = Path(__file__).resolve().parent.parent
OF_THE_HOUSE = ("tests/test_floors.py", "tests/test_waits.py", "tests/test_where_things_are.py")
OF_BOTH_ROOMS = "tests/rooms/test_rooms.py"
TRANSLATED = re.compile(r"(chapters/[a-z]{2}|book/locale|src/qkv/locale|tools/translations)/")
OF_TRANSLATIONS = ("test_language.py", "*/test_*language.py", "translations/test_*.py")


def quick_steps(changed: Sequence[str]) -> tuple[tuple[Step, ...], str]:
    """The steps after a change of these files, and a sentence on what they leave out."""
    names = {"format", "lint"}
    if not changed:
        steps = tuple(step for step in STEPS if step.name in names)
        return steps, "Nothing has changed: no types, no tests. `make test` runs all."
    if any(file.endswith(".py") and not file.startswith("tests/") for file in changed):
        names.add("types")
    tests = sorted({*OF_THE_HOUSE}.union(*map(chosen_tests, changed)))
    unit = Step("quick", f"{len(tests)} files of tests", pytest(*IN_HALVES, *tests))
    others = [file for file in changed if not chosen_tests(file)]
    alone = f" No tests were found for {', '.join(others)}." if others else ""
    total = sum(is_quick(path.as_posix()) for path in (ROOT / "tests").rglob("test_*.py"))
    left_out = (
        f"Not run: {total - len(tests)} of {total} files of unit tests, the book and its links, "
        f"chapters, pages in a browser.{alone} `make test` runs all."
    )
    return (*(step for step in STEPS if step.name in names), unit), left_out


def files_at_work() -> list[str]:
    """What differs from the last commit; if nothing does, from where this branch left main."""
    if changed := changed_files():
        return changed
    command = ["git", "diff", "--name-only", "--no-renames", "main...HEAD"]
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    except OSError:  # there is no git
        return []


def chosen_tests(file: str) -> set[str]:
    """The test files that a change of one file asks for, but for those that need the built book."""
    path = PurePosixPath(file)
    is_test = file.startswith("tests/") and path.name.startswith("test_")
    if TRANSLATED.match(file):
        tests = ROOT / "tests"
        paths = [path for name in OF_TRANSLATIONS for path in tests.glob(name)]
        found = {path.relative_to(ROOT).as_posix() for path in paths}
    else:
        found = {file} if is_test else {*by_table(file), *by_name(path)}
    return {test for test in found if (ROOT / test).is_file() and is_quick(test)}


def is_quick(test: str) -> bool:
    return not any(f"tests/{name}" in test for name in SEPARATE_STEPS)


def by_table(file: str) -> Iterator[str]:
    """The tests in the rows that name a file; of a room's file, those of its explorers too."""
    concepts, places = tables()
    if file.startswith(tuple(f"{PACKAGE}/{room}/" for room in ROOMS)):
        yield OF_BOTH_ROOMS
    for concept, modules, explorers, exercises, tests in concepts:
        in_rooms = [f"{PACKAGE}/{room}/{name}" for room in ROOMS for name in paths_in(modules)]
        if any(names_file(name, file) for name in (*in_rooms, *paths_in(concept))):
            yield from (f"tests/rooms/{name}" for name in paths_in(tests))
            for folder, cell in (("explore", explorers), ("exercises", exercises)):
                for name in paths_in(cell):
                    yield from by_name(PurePosixPath(PACKAGE, folder, name))
    for _, where in places:
        if file in paths_in(where):
            yield from (name for name in paths_in(where) if name.startswith("tests/"))


def names_file(name: str, file: str) -> bool:
    return file == name or (name.endswith("/") and file.startswith(name))


def by_name(path: PurePosixPath) -> list[str]:
    """The tests named like a file or like the nearest of its folders, else all of its part."""
    path = path.relative_to(PACKAGE) if path.is_relative_to(PACKAGE) else path
    part = PurePosixPath(path.parts[0]).stem
    folder = "." if len(path.parts) == 1 else f"{part}*"  # tests of qkv.onnx are in onnx_files
    tests = [p.relative_to(ROOT).as_posix() for p in (ROOT / "tests").glob(f"{folder}/test_*.py")]
    for name in reversed(path.parts[1:] or path.parts):
        words = PurePosixPath(name).stem.split("_")
        for n in range(len(words), 0, -1):
            alike = re.compile(rf".*/test_({part}_)?{re.escape('_'.join(words[:n]))}[_.]")
            if found := [test for test in tests if alike.match(test)]:
                return found
    return [] if folder == "." else tests


def tables() -> tuple[list[list[str]], list[list[str]]]:
    """The rows of *Where things are* as cells: concepts, then what stands beside the rooms."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = text.partition("\n## Where things are\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| ")]
    names = [row[0].strip() for row in rows]
    first, second = (names.index(head) for head in ("concept", "what you look for"))
    return rows[first + 1 : second], rows[second + 1 :]


def paths_in(cell: str) -> list[str]:
    """The files and folders that a cell names."""
    return [name for name in re.findall(r"`([^` ]+)`", cell) if re.search(r"/$|\.\w+$", name)]
