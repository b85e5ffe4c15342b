"""The measured figures, and the functions by which each benchmark writes its own.

A result is NAME.json, in the shape of `qkv.experiments.StoredResult`, and NAME.md, which says the
same to a reader; a picture is NAME.svg. The book's page of measurements shows the last two.
"""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from qkv.experiments.stored_results import (
    StoredResult,
    describe_run,
    source_commit,
    summary,
    write_result,
)
from qkv.plot import style

__all__ = ["RESULTS", "Figures", "as_markdown", "new_figure", "save_figure", "save_results"]

RESULTS = Path(__file__).resolve().parent
SCRIPTS = RESULTS.parent
LIBRARIES = ("numpy", "torch", "transformers", "triton")
UNKNOWN = "not recorded"
Figures = dict[str, Any]

# Of the program that imports this: what it changes later is not what it was started from.
_START, _COMMIT = time.perf_counter(), source_commit(SCRIPTS.parent)


def save_results(
    name: str, table: str, figures: Figures, versions: dict[str, str] | None = None
) -> None:
    """Write figures as JSON, and as Markdown; both with date, machine, versions and command.

    Args:
        name: of the benchmark's file.
        table: "# Title", then the figures in Markdown.
        figures: all that was measured.
        versions: of programs besides Python and its libraries.
    """
    result = describe_run(
        name=name,
        command=command(name),
        libraries=[library for library in LIBRARIES if library in sys.modules],
        seconds=time.perf_counter() - _START,
        commit=_COMMIT,
        figures=figures,
        threads=threads(),
    )
    result.versions.update(versions or {})
    write_result(RESULTS, result)
    (RESULTS / f"{name}.md").write_text(as_markdown(result, table), "utf-8")


def command(name: str) -> str:
    """The command that a benchmark's docstring gives, with what it has to be told."""
    plain = f"python benchmarks/{name}.py"
    text = (SCRIPTS / f"{name}.py").read_text("utf-8")
    found = re.search(rf"^ +({re.escape(plain)}(?: [A-Z]+)*)", text, re.M)
    return found[1] if found else plain


def threads() -> int | None:
    """As many as a product of matrices takes; None if nobody has set a number."""
    if torch := sys.modules.get("torch"):
        return int(torch.get_num_threads())
    return int(number) if (number := os.environ.get("OMP_NUM_THREADS")) else None


def as_markdown(result: StoredResult, table: str) -> str:
    """The title of a table, what is measured, when, where and how, and the table.

    Args:
        result: what was measured; its name is that of the benchmark's file.
        table: "# Title" in the first line, then the figures.
    """
    title, _, body = table.partition("\n")
    versions = ", ".join(f"{name} {number}" for name, number in result.versions.items())
    took = UNKNOWN if result.seconds is None else f"{result.seconds:,.0f} s"
    commit, system = result.commit or UNKNOWN, result.system or UNKNOWN
    facts = [
        f"Measured: {result.date}; took: {took}; commit of the source: {commit}",
        f"Machine: {result.machine}; system: {system}; threads: {result.threads or UNKNOWN}",
        f"Versions: {versions}",
        f"Again: `{result.command}`",
    ]
    lines = [
        title,
        summary(SCRIPTS / f"{result.name}.py"),
        "\n".join(f"- {fact}" for fact in facts),
        body.strip(),
    ]
    return "\n\n".join(lines) + "\n"


def new_figure(width: float = 6.5, height: float = 3.2) -> tuple[Figure, Any]:
    """A figure and its axes in the book's style, in inches."""
    style()
    plt.rcParams["svg.hashsalt"] = "qkv"  # ids in the file that are the same each time
    return plt.subplots(figsize=(width, height))


def save_figure(name: str, figure: Figure) -> None:
    """Write a benchmark's picture; its table shows it as `![alt](NAME.svg)`."""
    figure.savefig(RESULTS / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)
