"""Stored results: what an experiment measured, when, with which source, where, by which command."""

from __future__ import annotations

import ast
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from qkv.files import atomic_write
from qkv.language import gettext

__all__ = [
    "RESULTS",
    "StoredResult",
    "describe_run",
    "run_and_store",
    "source_commit",
    "stored_result",
    "summary",
    "write_result",
]

RESULTS = Path(__file__).with_name("results")
Figures = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class StoredResult:
    """What an experiment or a benchmark measured.

    Args:
        name: of its module in `qkv.experiments`, or of its file in `benchmarks`.
        date: of the measurement, YYYY-MM-DD.
        machine: its processor's name, its number of cores, and its GPU if torch has one.
        system: its operating system; "" where it is unknown.
        versions: of Python and of the libraries.
        threads: that one call may use; None where it is unknown, or differs.
        command: by which it is measured again.
        seconds: that it took; None where it is unknown.
        commit: of the source, "1a2b3c4" or, if the source had other changes, "1a2b3c4 + changes";
            "" where it is unknown.
        figures: what it measured; the module says what each means.
    """

    name: str
    date: str
    machine: str
    system: str = ""
    versions: dict[str, str]
    threads: int | None = None
    command: str
    seconds: float | None
    commit: str = ""
    figures: Figures

    def __str__(self) -> str:
        conditions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        if self.commit:
            conditions += gettext(", source at commit {commit}").format(commit=self.commit)
        text = gettext("Measured on {date} ({machine}; {conditions}) by\n{command}")
        return text.format(
            date=self.date, machine=self.machine, conditions=conditions, command=self.command
        )


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
    result = describe_run(
        name=name,
        command=f"python -m qkv.experiments.{name}",
        libraries=("numpy", "torch"),
        seconds=time.perf_counter() - start,
        commit=commit,
        figures=figures,
    )
    print(write_result(RESULTS, result))
    return result


def describe_run(
    *,
    name: str,
    command: str,
    libraries: Iterable[str],
    seconds: float,
    commit: str,
    figures: Figures,
    threads: int | None = None,
) -> StoredResult:
    """The result of a run that has just ended here: what it was told, and date and machine."""
    return StoredResult(
        name=name,
        date=date.today().isoformat(),
        machine=machine(),
        system=platform.system(),
        versions={"Python": platform.python_version()}
        | {library: version(library) for library in libraries},
        threads=threads,
        command=command,
        seconds=round(seconds),
        commit=commit,
        figures=figures,
    )


def write_result(folder: Path, result: StoredResult) -> str:
    """Write a result as NAME.json into a folder; the text of the file."""
    text = json.dumps(asdict(result), indent=1, ensure_ascii=False) + "\n"
    atomic_write(folder / f"{result.name}.json", text.encode())
    return text


def machine() -> str:
    """What this machine computes with, such as "AMD EPYC, 2 cores"."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    processor = next(iter(names), "") or platform.processor() or platform.machine()
    torch = sys.modules.get("torch")
    gpu = f", {torch.cuda.get_device_name()}" if torch and torch.cuda.is_available() else ""
    return f"{processor}, {os.cpu_count()} cores{gpu}"


def summary(script: Path) -> str:
    """The first line of a module's docstring, which says what it measures."""
    return (ast.get_docstring(ast.parse(script.read_text("utf-8"))) or "").partition("\n")[0]


def source_commit(folder: Path) -> str:
    """The commit that the files of a folder are at, as `StoredResult.commit` has it.

    Results do not count as changes: one experiment may be stored after another.
    """
    try:
        if not _git(folder, "ls-files", "."):  # installed inside somebody else's repository
            return ""
        results = [f":(exclude)*results/*.{kind}" for kind in ("json", "md", "svg")]
        changes = _git(folder, "status", "--porcelain", "-uall", ".", *results)
        return _git(folder, "rev-parse", "--short", "HEAD") + (" + changes" if changes else "")
    except (OSError, subprocess.CalledProcessError):  # there is no git, or no checkout
        return ""


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
