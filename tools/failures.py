"""Sum up a failed pytest run from its JUnit report: counts by file, the nearest failure first.

The nearest file is the one named for what has changed since the last commit:
tests/rooms/test_masks.py for src/qkv/numpy/masks.py. Where no name decides, it is the one that
needs the fewest modules of the package: a fault breaks all that is built on it, and what is built
on least is closest to it.
"""

from __future__ import annotations

import ast
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "src/qkv"
ROOMS = ("numpy", "torch")  # of these a test's name does not speak


@dataclass(frozen=True)
class Failure:
    """A failed test: its file, its name, and all that pytest has to say about it."""

    file: str
    test: str
    message: str


def failures(report: Path) -> list[Failure]:
    """The failed tests of a pytest run, from its report (junit_family=xunit1), in its order."""
    failed_tests = []
    for case in ElementTree.parse(report).iter("testcase"):
        for element in (*case.iter("failure"), *case.iter("error")):
            # A file that could not be read has no test: its name stands in the place of one.
            file = case.get("file") or f"{case.get('name', '').replace('.', '/')}.py"
            message = element.text or element.get("message") or ""
            failed_tests.append(Failure(file, case.get("name", ""), message.strip("\n")))
    return failed_tests


def skip_reasons(report: Path) -> Counter[str]:
    """{why: how many} of the tests that were skipped."""
    cases = ElementTree.parse(report).iter("skipped")
    return Counter(case.get("message", "").removeprefix("Skipped: ") for case in cases)


def nearest_first(failed_tests: Sequence[Failure], changed: Sequence[str]) -> list[tuple[str, int]]:
    """(file, failures in it), the file nearest to the fault first."""
    per_file = Counter(failure.file for failure in failed_tests)
    return sorted(per_file.items(), key=lambda item: sort_key(item[0], changed))


def sort_key(file: str, changed: Sequence[str]) -> tuple[int, int, str]:
    """Sort key of test files: the best name first, then the fewest modules needed."""
    return (
        -max((name_overlap(file, path) for path in changed), default=0),
        count_needed_modules(file),
        file,
    )


def name_overlap(file: str, changed: str) -> int:
    """How many letters a test file's name shares with that of a changed file; 0 for none."""
    if file == changed:
        return len(file)
    path = PurePosixPath(changed)
    if not path.is_relative_to(PACKAGE):
        return 0
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    parts = tuple(part for part in parts if part not in (*ROOMS, "__init__"))
    names = {*parts, *("_".join(parts[:n]) for n in range(1, len(parts) + 1))}
    stem = PurePosixPath(file).stem.removeprefix("test_")
    return max((len(name) for name in names if f"{stem}_".startswith(f"{name}_")), default=0)


def changed_files() -> list[str]:
    """What differs from the last commit; nothing where git cannot tell."""
    command = ["git", "status", "--porcelain", "--no-renames", "--untracked-files=all"]
    try:
        status = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [line[3:] for line in status.stdout.splitlines()]


def count_needed_modules(file: str) -> int:
    """How many modules of ours a file imports, and they in turn."""
    path = ROOT / file
    if path.suffix != ".py" or not path.is_file():
        return 0
    seen: set[Path] = set()
    queue = [path]
    while queue:
        for module in imported_files(queue.pop()):
            if module not in seen:
                seen.add(module)
                queue.append(module)
    return len(seen)


@cache
def imported_files(path: Path) -> tuple[Path, ...]:
    """Our files that one file imports by name."""
    files: list[Path] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        files += [file for name in names for file in module_files(name)]
    return tuple(files)


def module_files(module: str) -> Iterator[Path]:
    """The file of a module of this folder; a package is its __init__.py."""
    for folder in (ROOT / "src", ROOT):
        place = folder.joinpath(*module.split("."))
        yield from filter(Path.is_file, (place.with_suffix(".py"), place / "__init__.py"))
