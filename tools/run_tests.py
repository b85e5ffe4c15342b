"""Run every test step (formatting, lint, types, build, pytest) and sum up: `make test` calls this.

    python tools/run_tests.py                     every step
    python tools/run_tests.py --only lint,unit    some
    python tools/run_tests.py --quick             lint, and what tools/quick.py chooses: make quick
    python tools/run_tests.py --only live         every chapter's cells in a browser: make test-live
    python tools/run_tests.py --only release      what is published, whole: make release-check

A failed step does not stop the others. The output of each is kept in _build/test_logs/. When tests
fail, they are counted by file, and the nearest is shown in full: tools/failures.py says which.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.browser import INSTALL_HINT, find_browser
from tools.failures import changed_files, failures, nearest_first, skip_reasons
from tools.quick import files_at_work, quick_steps
from tools.steps import LIVE, RELEASE, STEPS, Step

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "_build" / "test_logs"
BOOK = ROOT / "_build" / "html" / "index.html"
NO_BROWSER = "no Chromium found"
LOG_TAIL = 200  # lines of a failed step's output that are shown; the file has them all


@dataclass(frozen=True)
class Outcome:
    """How a step ended. A step that is not a test run counts as one test."""

    step: Step
    state: str  # "passed", "failed", "not run"
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    remark: str = ""
    notes: tuple[str, ...] = ()  # where to begin, and why tests were skipped


def run(step: Step, browser: str | None) -> Outcome:
    """Run one step to its end, its output going to a file."""
    reason = missing_requirement(step, browser)
    if reason:
        strict = reason != NO_BROWSER or bool(os.environ.get("CI"))
        return Outcome(step, "failed" if strict else "not run", failed=int(strict), remark=reason)
    report = LOGS / f"{step.name}.xml"
    report.unlink(missing_ok=True)
    report_option = (f"--junitxml={report}",) if step.is_pytest else ()
    start = time.perf_counter()
    with (LOGS / f"{step.name}.log").open("w", encoding="utf-8") as log:
        code = subprocess.call(
            [sys.executable, *step.command, *report_option],
            cwd=ROOT,
            env={**os.environ, **({"CHROMIUM": browser} if browser else {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    seconds = time.perf_counter() - start
    passed, failed, skipped = (
        count_results(report) if step.is_pytest else (int(not code), int(bool(code)), 0)
    )
    if code and not failed:
        failed = 1  # it broke before or beside its tests
    return Outcome(step, "failed" if code else "passed", passed, failed, skipped, seconds)


def missing_requirement(step: Step, browser: str | None) -> str:
    """What a step needs and does not have."""
    if "book" in step.needs and not BOOK.exists():
        return "there is no built book"
    if "browser" in step.needs and browser is None:
        return NO_BROWSER
    return ""


def count_results(report: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped tests of a pytest run; zeros if it wrote no report."""
    if not report.exists():
        return 0, 0, 0
    suite = next(ElementTree.parse(report).iter("testsuite"))
    total, failures, errors, skipped = (
        int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")
    )
    failed = min(failures + errors, total)
    return total - failed - skipped, failed, skipped


def run_all(steps: Sequence[Step], console: Console) -> Iterator[Outcome]:
    """Every step in turn, its progress said."""
    browser = find_browser() if any("browser" in step.needs for step in steps) else None
    for number, step in enumerate(steps, start=1):
        label = f"[{number}/{len(steps)}] {step.title}"
        with console.status(label) if console.is_terminal else nullcontext():
            outcome = run(step, browser)
        console.print(f"{label}: {outcome.state}, {outcome.seconds:.1f} s", markup=False)
        if not outcome.remark:
            notes = skip_notes(step)
            if outcome.state == "failed":
                notes += show_nearest(step, console) or show_log(step, console)
            outcome = replace(outcome, notes=notes)
        yield outcome


def skip_notes(step: Step) -> tuple[str, ...]:
    report = LOGS / f"{step.name}.xml"
    reasons = skip_reasons(report) if step.is_pytest and report.exists() else {}
    return tuple(f"{number} skipped: {reason}" for reason, number in sorted(reasons.items()))


def show_nearest(step: Step, console: Console) -> tuple[str, ...]:
    """Failures counted by file, and the first of the nearest file; nothing if no test failed."""
    report = LOGS / f"{step.name}.xml"
    failed_tests = failures(report) if step.is_pytest and report.exists() else []
    if not failed_tests:
        return ()
    files = nearest_first(failed_tests, changed_files())
    first = next(failure for failure in failed_tests if failure.file == files[0][0])
    where = f"{len(files)} files, the nearest first" if len(files) > 1 else "one file"
    console.print(f"{len(failed_tests)} failed in {where}:", highlight=False)
    for file, number in files:
        console.print(f"{number:6}  {file}", markup=False, highlight=False)
    begin = f"begin with {first.file}, {first.test}"
    for text in (f"\n{begin}:\n", first.message, f"\nThe others: {log_of(step)}"):
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    return (begin,)


def log_of(step: Step) -> Path:
    return (LOGS / f"{step.name}.log").relative_to(ROOT)


def show_log(step: Step, console: Console) -> tuple[str, ...]:
    """The end of a step's output, where no test can be named."""
    path = ROOT / log_of(step)
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if len(lines) > LOG_TAIL:
        console.print(f"(the last {LOG_TAIL} of {len(lines)} lines; all: {log_of(step)})")
    console.print("\n".join(lines[-LOG_TAIL:]), markup=False, highlight=False, soft_wrap=True)
    return ()


def summarise(outcomes: Sequence[Outcome], console: Console) -> int:
    """The table, what to mend, and the closing line; the exit status."""
    table = Table("step", "", "passed", "failed", "skipped", "seconds")
    colours = {"passed": "green", "failed": "bold red", "not run": "bold yellow"}
    for outcome in outcomes:
        state = "NOT RUN" if outcome.state == "not run" else outcome.state
        numbers = (outcome.passed, outcome.failed, outcome.skipped, f"{outcome.seconds:.1f}")
        style = colours[outcome.state]
        table.add_row(outcome.step.title, f"[{style}]{state}[/]", *map(str, numbers))
    console.print(table)
    for outcome in outcomes:
        for note in outcome.notes:
            console.print(f"{outcome.step.title}: {note}", markup=False, highlight=False)
        if outcome.remark:
            console.print(f"{outcome.step.title}: {outcome.remark}.", style="bold")
            console.print(INSTALL_HINT if outcome.remark == NO_BROWSER else "See the build above.")
    passed, failed, skipped = (
        sum(getattr(outcome, name) for outcome in outcomes)
        for name in ("passed", "failed", "skipped")
    )
    more = f", {skipped} skipped" if skipped else ""
    console.print(f"{passed} passed, {failed} failed{more}", highlight=False)
    return int(any(outcome.state == "failed" for outcome in outcomes))


def find_steps(names: str | None) -> tuple[Step, ...]:
    """The steps of a comma-separated list; without one, all but LIVE and RELEASE."""
    if names is None:
        return STEPS
    requested = names.split(",")
    every = (*STEPS, LIVE, RELEASE)
    known = [step.name for step in every]
    if unknown := [name for name in requested if name not in known]:
        raise argparse.ArgumentTypeError(f"no step {unknown[0]!r}; there are {', '.join(known)}")
    return tuple(step for step in every if step.name in requested)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--only", type=find_steps, default=STEPS, metavar="STEP,STEP", dest="steps")
    choice.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    steps, left_out = quick_steps(files_at_work()) if options.quick else (options.steps, "")
    console = Console(width=None if sys.stdout.isatty() else 100)
    LOGS.mkdir(parents=True, exist_ok=True)
    outcomes: list[Outcome] = []
    try:
        for outcome in run_all(steps, console):
            outcomes.append(outcome)
    except KeyboardInterrupt:
        summarise(outcomes, console)
        console.print("Interrupted: the other steps did not run.")
        return 130
    status = summarise(outcomes, console)
    if left_out:
        console.print(left_out, highlight=False, markup=False)
    return status


if __name__ == "__main__":
    sys.exit(main())
