"""Stored results: what an experiment measured, when, with which source, where, by which command."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from qkv.files import atomic_write

__all__ = ["RESULTS", "StoredResult", "run_and_store", "stored_result"]

RESULTS = Path(__file__).with_name("results")
Figures = dict[str, Any]


@dataclass(frozen=True)
class StoredResult:
    """What an experiment measured.

    Args:
        name: of its module in `qkv.experiments`.
        command: by which it is measured again.
        date: of the measurement, YYYY-MM-DD.
        machine: its processor architecture and number of cores.
        versions: of Python and of the libraries.
        seconds: that it took.
        figures: what it measured; the module says what each means.
        commit: of the source, "1a2b3c4" or, if the source had other changes, "1a2b3c4 + changes";
            "" where it is unknown.
    """

    name: str
    command: str
    date: str
    machine: str
    versions: dict[str, str]
    seconds: float
    figures: Figures
    commit: str = ""

    def __str__(self) -> str:
        libraries = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        source = f", source at commit {self.commit}" if self.commit else ""
        return f"Measured on {self.date} ({self.machine}; {libraries}{source}) by\n{self.command}"


def stored_result(name: str) -> StoredResult:
    """Read the stored result of an experiment.

    Raises:
        ValueError: there is none of this name.
    """
    names = sorted(path.stem for path in RESULTS.glob("*.json"))
    if name not in names:
        raise ValueError(f"stored_result: name must be one of {names}, got {name!r}")
    return StoredResult(**json.loads((RESULTS / f"{name}.json").read_text("utf-8")))


def run_and_store(name: str, measure: Callable[[], Figures]) -> StoredResult:
    """Run an experiment, print its figures, and store them in place of the earlier ones."""
    start, commit = time.perf_counter(), source_commit(Path(__file__).parents[1])
    figures = measure()
    result = StoredResult(
        name=name,
        command=f"python -m qkv.experiments.{name}",
        date=date.today().isoformat(),
        machine=f"{platform.machine()}, {os.cpu_count()} cores",
        versions={"Python": platform.python_version()}
        | {library: version(library) for library in ("numpy", "torch")},
        seconds=round(time.perf_counter() - start),
        figures=figures,
        commit=commit,
    )
    text = json.dumps(asdict(result), indent=1, ensure_ascii=False) + "\n"
    atomic_write(RESULTS / f"{name}.json", text.encode())
    print(text)
    return result


def source_commit(folder: Path) -> str:
    """The commit that the files of a folder are at, as `StoredResult.commit` has it.

    Results do not count as changes: one experiment may be stored after another.
    """
    try:
        if not _git(folder, "ls-files", "."):  # installed inside somebody else's repository
            return ""
        changes = _git(folder, "status", "--porcelain", "-uall", ".", ":(exclude)*results/*.json")
        return _git(folder, "rev-parse", "--short", "HEAD") + (" + changes" if changes else "")
    except (OSError, subprocess.CalledProcessError):  # there is no git, or no checkout
        return ""


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
