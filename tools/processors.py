"""Run the chapters as on other processors: every library's kernels that this processor has.

    python tools/processors.py                 each setting once, every chapter
    python tools/processors.py masks           one chapter
    python tools/processors.py --list          the settings, and what runs under each
    python tools/processors.py --only Haswell  one setting
    python tools/processors.py --product       all combinations, for the chapters that train
    python tools/processors.py --another       one kernel unlike this processor's, for those
    python tools/processors.py --stored        what `make notebooks` would change under each

Under each setting nbval runs every cell, its asserts too, and compares what it prints with what is
stored; --stored compares pictures and explorers too. The table says which cells failed, or which
chapters would change; the exit status is 1 if any did.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from qkv.language import ENGLISH
from tools.failures import failures
from tools.kernels import Setting, another, probe, settings
from tools.run_notebooks import CHAPTERS, NotebookError, find_chapters
from tools.run_tests import ROOT
from tools.steps import pytest as pytest_command
from tools.training_cells import chapters_that_train

NBVAL = ("--nbval", "--nbval-current-env", "-n", "2", "--dist", "loadscope")


@dataclass(frozen=True)
class Result:
    """What a setting did to one chapter: the cells that failed, or how its stored form would be."""

    setting: Setting
    chapter: str
    failed: tuple[str, ...]


def run(setting: Setting, chapters: Sequence[Path]) -> list[Result]:
    """Run chapters under a setting, in a pytest of its own."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, *pytest_command(*NBVAL, f"--junitxml={report}")]
        done = subprocess.run(
            [*command, *map(str, chapters)],
            cwd=ROOT,
            env={**os.environ, **setting.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        # 1: some cells failed. Anything else is no run at all, and no cell can be named.
        if done.returncode not in (0, 1) or not report.exists():
            return [Result(setting, path.stem, ("did not run",)) for path in chapters]
        found = failures(report)
        for failure in found:
            print(f"{setting.name}, {failure.file}, {failure.test}:\n{failure.message}", flush=True)
        return [
            Result(setting, path.stem, tuple(f.test for f in found if path.name in f.file))
            for path in chapters
        ]


def check_stored(setting: Setting, chapters: Sequence[Path]) -> list[Result]:
    """Run chapters under a setting, and compare all that is stored of them; nothing is written."""
    done = subprocess.run(
        [sys.executable, "tools/run_notebooks.py", "--check", *(path.stem for path in chapters)],
        cwd=ROOT,
        env={**os.environ, **setting.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    # One line a chapter: its file, and how it is.
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
    states = {path: said.get(path.name, "did not run") for path in chapters}
    return [
        Result(setting, path.stem, () if state.startswith("unchanged") else (state,))
        for path, state in states.items()
    ]


def show(results: Sequence[Result], console: Console) -> int:
    """The table, a setting a row, with the chapters that failed; the exit status."""
    table = Table("setting", "passed", "failed")
    for setting in dict.fromkeys(result.setting for result in results):
        own = [result for result in results if result.setting == setting]
        failed = [f"{r.chapter}: {', '.join(r.failed)}" for r in own if r.failed]
        table.add_row(setting.name, str(len(own) - len(failed)), "\n".join(failed))
    console.print(table)
    wrong = sum(bool(result.failed) for result in results)
    console.print(f"{len(results) - wrong} passed, {wrong} failed", highlight=False)
    return int(wrong > 0)


def product(every: Sequence[Setting]) -> list[Setting]:
    """All combinations: of each library one setting, or its own choice."""
    libraries = list(dict.fromkeys(setting.backend for setting in every))
    choices = [[s for s in every if s.backend == library] for library in libraries]
    joined = []
    for picked in itertools.product(*choices):
        environment = {key: text for s in picked for key, text in s.environment.items()}
        name = " ".join(s.name for s in picked)
        joined.append(Setting(name, "all", tuple(environment.items()), ""))
    return joined


def choose(every: Sequence[Setting], names: Sequence[str]) -> list[Setting]:
    """The settings of these names; ValueError names those that this processor has."""
    known = {setting.name: setting for setting in every}
    for name in names:
        if name not in known:
            raise ValueError(f"no setting {name!r} here; there are {', '.join(known)}")
    return [known[name] for name in names]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="chapter", help="such as masks or 05_masks")
    parser.add_argument("--list", action="store_true", help="say what runs under each setting")
    parser.add_argument("--stored", action="store_true", help="compare all that is stored")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--only", metavar="SETTING,SETTING", help="some of those that --list names")
    which.add_argument("--product", action="store_true", help="all combinations")
    which.add_argument("--another", action="store_true", help="one kernel unlike this processor's")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 160)
    every = settings()
    try:
        chapters = find_chapters(options.names, CHAPTERS, [ENGLISH])  # others run the same code
        if not options.names and (options.product or options.another):
            chapters = chapters_that_train(CHAPTERS)
        chosen = choose(every, options.only.split(",")) if options.only else every
    except (NotebookError, ValueError) as error:
        parser.error(str(error))
    if options.product:
        chosen = product(every)
    if options.another:
        chosen = [another(every)]
    if options.list:
        for setting in chosen:
            console.print(f"{setting.name}: {probe(setting)}", highlight=False)
        return 0
    results: list[Result] = []
    for setting in chosen:
        if setting.shows not in (seen := probe(setting)):
            console.print(f"{setting.name} has no effect here ({seen}): not run")
            continue
        found = (check_stored if options.stored else run)(setting, chapters)
        wrong = sum(bool(result.failed) for result in found)
        console.print(f"{setting.name}: {len(found) - wrong} passed, {wrong} failed ({seen})")
        results += found
    return show(results, console)


if __name__ == "__main__":
    sys.exit(main())
