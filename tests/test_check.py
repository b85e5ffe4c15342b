"""`make test` says how every step ended, and does not pass over a missing browser."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from tools import browser, build_book, check
from tools.check import Outcome, Step, chosen, counts, run_all, summarise

CI = Path(__file__).parent.parent / ".ci" / "run"
GOOD = Step("good", "a good step", ("-c", "print('fine')"))
BAD = Step("bad", "a bad step", ("-c", "print('what went wrong'); raise SystemExit(3)"))
PAGES = Step("browser", "pages", ("-c", "pass"), ("book", "browser"))
LINKS = Step("links", "links", ("-c", "pass"), ("book",))


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "ROOT", tmp_path)
    monkeypatch.setattr(check, "LOGS", tmp_path)
    monkeypatch.setattr(check, "BOOK", tmp_path / "index.html")


def words(*steps: Step) -> tuple[int, str]:
    stream = io.StringIO()
    console = Console(file=stream, width=100)
    status = summarise(list(run_all(steps, console)), console)
    return status, stream.getvalue()


def test_failed_step_shows_its_words_and_stops_no_other() -> None:
    status, said = words(BAD, GOOD)
    assert status == 1
    assert "what went wrong" in said
    assert "[2/2] a good step: passed" in said
    assert said.endswith("\n1 passed, 1 failed\n")


def test_all_good() -> None:
    status, said = words(GOOD)
    assert status == 0
    assert "fine" not in said
    assert said.endswith("\n1 passed, 0 failed\n")


@pytest.mark.parametrize(("ci", "status"), [("", 0), ("true", 1)])
def test_missing_browser_is_loud_and_fails_in_ci(
    monkeypatch: pytest.MonkeyPatch, ci: str, status: int
) -> None:
    monkeypatch.setenv("CI", ci)
    check.BOOK.touch()
    monkeypatch.setattr(check, "find_browser", lambda: None)
    got, said = words(GOOD, PAGES)
    assert got == status
    assert "apt-get install chromium" in said
    assert ("NOT RUN" in said) == (not ci)
    assert said.endswith(f"\n1 passed, {status} failed\n")


def test_no_book_fails_what_needs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(check, "find_browser", lambda: "chromium")
    status, said = words(LINKS, PAGES)
    assert status == 1
    assert said.count("there is no built book") == 2
    assert said.endswith("\n0 passed, 2 failed\n")


def test_pytest_steps_count_their_tests(tmp_path: Path) -> None:
    report = tmp_path / "unit.xml"
    suite = '<testsuite name="pytest" tests="9" failures="1" errors="1" skipped="2" time="1.5"/>'
    report.write_text(f"<testsuites>{suite}</testsuites>")
    assert counts(report) == (5, 2, 2)


def test_run_without_a_report_counts_as_failed() -> None:
    status, said = words(Step("unit", "unit", ("-c", "raise SystemExit(4)", "pytest")))
    assert status == 1
    assert said.endswith("\n0 passed, 1 failed\n")


def test_steps_are_chosen_by_name() -> None:
    assert [step.name for step in chosen("unit,lint")] == ["lint", "unit"]
    with pytest.raises(Exception, match="no step 'speling'; there are format, lint"):
        chosen("speling")


def test_live_chapters_run_only_when_named() -> None:
    """The unit tests, all of tests/ but what has a step of its own, leave them out too."""
    assert "live" not in [step.name for step in check.STEPS]
    assert chosen(None) == check.STEPS
    assert [step.name for step in chosen("live,html")] == ["html", "live"]
    assert check.LIVE.needs == ("book", "browser")
    unit = next(step for step in check.STEPS if step.name == "unit")
    assert "--ignore=tests/live" in unit.command


@pytest.mark.parametrize("bad", ["", "test", "test-live"])
def test_ci_runs_both_and_fails_when_either_does(tmp_path: Path, bad: str) -> None:
    make = tmp_path / "make"
    make.write_text(
        f'#!/bin/sh\necho "words of $1"\necho "7 passed, 0 failed"\n[ "$1" != "{bad}" ]\n'
    )
    make.chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "CHROMIUM": str(make)}
    ended = subprocess.run([CI], env=environment, capture_output=True, text=True)
    assert ended.returncode == int(bool(bad))
    assert "words of test\n" in ended.stdout
    closing = "\nmake test: 7 passed, 0 failed\nmake test-live: 7 passed, 0 failed\n"
    assert ended.stdout.endswith(closing)


def test_summary_of_an_interrupted_run() -> None:
    stream = io.StringIO()
    summarise([Outcome(GOOD, "passed", passed=1)], Console(file=stream, width=100))
    assert "1 passed, 0 failed" in stream.getvalue()


def test_browser_of_the_environment_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "chromium"
    mine.touch(mode=0o755)
    monkeypatch.setenv("CHROMIUM", str(mine))
    assert browser.find_browser() == str(mine)
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "none"))
    assert browser.find_browser() is None
    monkeypatch.delenv("CHROMIUM")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser.find_browser() == str(mine)


@pytest.mark.parametrize("status", [0, 1])
def test_failed_build_leaves_the_old_book(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    book, part = tmp_path / "html", tmp_path / "part"
    book.mkdir()
    (book / "index.html").write_text("old")

    def jupyter_book(command: list[str], **_: object) -> int:
        new = part / "_build" / "html"
        new.mkdir(parents=True)
        (new / "index.html").write_text("new")
        return status

    monkeypatch.setattr("subprocess.call", jupyter_book)
    assert build_book.build(book, part) == status
    assert (book / "index.html").read_text() == ("old" if status else "new")
