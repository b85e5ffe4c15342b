"""`make test` says how every step ended, and does not pass over a missing browser."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from rich.console import Console

from tools import browser, build_book, failures, run_tests
from tools.failures import Failure, count_needed_modules, name_overlap, nearest_first
from tools.run_tests import Outcome, count_results, find_steps, run_all, summarise
from tools.steps import RELEASE_TESTS, Step
from tools.steps import pytest as pytest_step

CI = Path(__file__).parents[2] / ".ci" / "run"
GOOD = Step("good", "a good step", ("-c", "print('fine')"))
BAD = Step("bad", "a bad step", ("-c", "print('what went wrong'); raise SystemExit(3)"))
PAGES = Step("browser", "pages", ("-c", "pass"), ("book", "browser"))
LINKS = Step("links", "links", ("-c", "pass"), ("book",))


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    monkeypatch.setattr(run_tests, "LOGS", tmp_path)
    monkeypatch.setattr(run_tests, "BOOK", tmp_path / "index.html")


def run_steps(*steps: Step) -> tuple[int, str]:
    stream = io.StringIO()
    console = Console(file=stream, width=100)
    status = summarise(list(run_all(steps, console)), console)
    return status, stream.getvalue()


def test_failed_step_shows_its_words_and_stops_no_other() -> None:
    status, output = run_steps(BAD, GOOD)
    assert status == 1
    assert "what went wrong" in output
    assert "[2/2] a good step: passed" in output
    assert output.endswith("\n1 passed, 1 failed\n")


def test_all_good() -> None:
    status, output = run_steps(GOOD)
    assert status == 0
    assert "fine" not in output
    assert output.endswith("\n1 passed, 0 failed\n")


@pytest.mark.parametrize(("ci", "status"), [("", 0), ("true", 1)])
def test_missing_browser_is_loud_and_fails_in_ci(
    monkeypatch: pytest.MonkeyPatch, ci: str, status: int
) -> None:
    monkeypatch.setenv("CI", ci)
    run_tests.BOOK.touch()
    monkeypatch.setattr(run_tests, "find_browser", lambda: None)
    got, output = run_steps(GOOD, PAGES)
    assert got == status
    assert "apt-get install chromium" in output
    assert ("NOT RUN" in output) == (not ci)
    assert output.endswith(f"\n1 passed, {status} failed\n")


def test_no_book_fails_what_needs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(run_tests, "find_browser", lambda: "chromium")
    status, output = run_steps(LINKS, PAGES)
    assert status == 1
    assert output.count("there is no built book") == 2
    assert output.endswith("\n0 passed, 2 failed\n")


def test_pytest_steps_count_their_tests(tmp_path: Path) -> None:
    report = tmp_path / "unit.xml"
    suite = '<testsuite name="pytest" tests="9" failures="1" errors="1" skipped="2" time="1.5"/>'
    report.write_text(f"<testsuites>{suite}</testsuites>")
    assert count_results(report) == (5, 2, 2)


def test_run_without_a_report_counts_as_failed() -> None:
    status, output = run_steps(Step("unit", "unit", ("-c", "raise SystemExit(4)", "pytest")))
    assert status == 1
    assert output.endswith("\n0 passed, 1 failed\n")


def a_run_that_fails(folder: Path) -> Step:
    """A real run of pytest: two files fail, and two tests are skipped."""
    (folder / "test_attention.py").write_text(
        "import pytest\n"
        "def test_sum():\n    rows = [1, 2]\n    assert sum(rows) == 1, 'rows must sum to 1'\n"
        "def test_order(): assert [] == [1]\n"
        "@pytest.mark.skip(reason='there is no GPU')\ndef test_gpu(): pass\n"
        "@pytest.mark.skip(reason='there is no GPU')\ndef test_gpus(): pass\n"
    )
    (folder / "test_translate.py").write_text("def test_far(): assert 'the farthest' == ''\n")
    return Step("unit", "unit tests", pytest_step("--rootdir", str(folder), str(folder)))


def test_failures_are_counted_by_file_and_the_nearest_is_shown_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = ["src/qkv/numpy/attention/softmax.py"]
    monkeypatch.setattr(run_tests, "changed_files", lambda: changed)
    status, output = run_steps(a_run_that_fails(tmp_path))
    assert status == 1
    assert "3 failed in 2 files, the nearest first:" in output
    counted = [line.split() for line in output.splitlines() if line.endswith(".py")]
    assert counted == [["2", "test_attention.py"], ["1", "test_translate.py"]]
    assert "rows must sum to 1" in output
    assert "rows = [1, 2]" in output, "in full, with its code"
    assert "the farthest" not in output
    begin = "begin with test_attention.py, test_sum"
    assert output.count(begin) == 2, "before the failure, and below the table where the eye ends"
    assert output.index("unit tests: 2 skipped: there is no GPU") < output.rindex(begin)
    assert output.endswith("\n0 passed, 3 failed, 2 skipped\n")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_broken.py").write_text("import no_such_module\n")
    _, output = run_steps(
        Step("unit", "unit", pytest_step("--rootdir", str(tmp_path), str(folder)))
    )
    assert "     1  tests/test_broken.py\n" in output
    assert "No module named 'no_such_module'" in output


def test_an_old_report_says_nothing_of_a_run_that_wrote_none(tmp_path: Path) -> None:
    run_steps(a_run_that_fails(tmp_path))
    status, output = run_steps(
        Step("unit", "unit", ("-c", "print('no report'); exit(4)", "pytest"))
    )
    assert status == 1
    assert "no report" in output
    assert "nearest" not in output
    assert "skipped" not in output.splitlines()[-1]


@pytest.mark.parametrize(
    ("changed", "nearest"),
    [
        ("src/qkv/numpy/attention/softmax.py", "tests/rooms/test_attention.py"),
        ("src/qkv/torch/masks.py", "tests/rooms/test_masks.py"),
        ("src/qkv/explore/masks.py", "tests/explore/test_explore_masks.py"),
        ("src/qkv/translator/__init__.py", "tests/translator/test_translator.py"),
        ("tests/rooms/test_onnx.py", "tests/rooms/test_onnx.py"),
        ("book/index.md", "tests/explore/test_explore.py"),
        (None, "tests/explore/test_explore.py"),
    ],
)
def test_the_nearest_has_the_name_of_what_changed_or_needs_least(
    changed: str | None, nearest: str
) -> None:
    rooms = ("onnx", "masks", "attention_gradients", "attention")
    names = [*(f"rooms/test_{name}" for name in rooms), "translator/test_translator"]
    names += ["explore/test_explore_masks", "explore/test_explore"]
    found = [Failure(f"tests/{name}.py", "test_a", "") for name in names]
    assert nearest_first(found, [changed] if changed else [])[0] == (nearest, 1)


def test_what_is_built_on_less_needs_less() -> None:
    """One room before both, and both before what stands on them."""
    order = ("explore/test_explore_masks", "rooms/test_masks", "translator/test_translator")
    numbers = [
        count_needed_modules(f"tests/{name}.py") for name in (*order, "commands/test_translate")
    ]
    assert numbers == sorted(set(numbers))
    assert (
        count_needed_modules("chapters/05_masks.ipynb")
        == count_needed_modules("tests/no_such_file.py")
        == 0
    )
    assert name_overlap("tests/test_mask.py", "src/qkv/numpy/masks.py") == 0


def test_where_git_cannot_tell_nothing_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert failures.changed_files() == []
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "new.py").touch()
    assert failures.changed_files() == ["new.py"]
    monkeypatch.setenv("PATH", "")
    assert failures.changed_files() == []


def test_steps_are_chosen_by_name() -> None:
    assert [step.name for step in find_steps("unit,lint")] == ["lint", "unit"]
    with pytest.raises(Exception, match="no step 'speling'; there are format, lint"):
        find_steps("speling")


def test_live_chapters_run_only_when_named() -> None:
    """The unit tests, all of tests/ but what has a step of its own, leave them out too."""
    assert "live" not in [step.name for step in run_tests.STEPS]
    assert find_steps(None) == run_tests.STEPS
    assert [step.name for step in find_steps("live,html")] == ["html", "live"]
    assert run_tests.LIVE.needs == ("book", "browser")
    unit = next(step for step in run_tests.STEPS if step.name == "unit")
    assert "--ignore=tests/chapters/live" in unit.command


def test_what_a_release_publishes_is_tested_only_when_named() -> None:
    assert "release" not in [step.name for step in run_tests.STEPS]
    assert find_steps("release,lint")[-1] is run_tests.RELEASE
    assert ("-m", "release", *RELEASE_TESTS) == run_tests.RELEASE.command[-2 - len(RELEASE_TESTS) :]
    for path in CI.parents[1].glob("tests/**/test_*.py"):
        if "mark." + "release" in path.read_text("utf-8"):
            name = path.relative_to(CI.parents[1]).as_posix()
            assert name.startswith(RELEASE_TESTS), f"{name} is in no folder of RELEASE_TESTS"
    settings = tomllib.loads((CI.parents[1] / "pyproject.toml").read_text("utf-8"))
    options = settings["tool"]["pytest"]["ini_options"]
    assert options["addopts"] == ["-m", "not release"]
    assert options["markers"][0].startswith("release: ")


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
    shell = tmp_path / "chromium-headless-shell"
    shell.touch(mode=0o755)
    assert browser.find_browser() == str(shell)
    assert browser.find_browser(browser.READERS) == str(mine), "what is measured is a reader's"


@pytest.mark.parametrize("status", [0, 1])
def test_failed_build_leaves_the_old_book(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    book, part = tmp_path / "html", tmp_path / "part"
    book.mkdir()
    (book / "index.html").write_text("old")

    def jupyter_book(_: object) -> int:
        new = part / "en" / "_build" / "html"
        new.mkdir(parents=True)
        (new / "index.html").write_text("new")
        return status

    monkeypatch.setattr(build_book, "ROOT", tmp_path)
    monkeypatch.setattr(build_book, "run_side_by_side", jupyter_book)
    assert build_book.build(book, part) == status
    assert (book / "index.html").read_text() == ("old" if status else "new")


@pytest.mark.parametrize("statuses", [(0, 0), (0, 3), (3, 0)])
def test_editions_are_built_side_by_side(tmp_path: Path, statuses: tuple[int, int]) -> None:
    """Each waits for the other's file, and one that fails does not stop the other."""
    code = """
import os, pathlib, time
own, other, status = os.environ["WORDS"].split()
pathlib.Path(own).touch()
while not pathlib.Path(other).exists():
    time.sleep(0.01)
raise SystemExit(int(status))
"""
    words = [f"a b {statuses[0]}", f"b a {statuses[1]}"]
    command = [sys.executable, "-c", code]
    runs = [(command, tmp_path, {"WORDS": text}) for text in words]
    assert build_book.run_side_by_side(runs) == max(statuses)


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with every input, in which a build writes one page of them."""
    for name in build_book.INPUTS:
        place = tmp_path / name if "." in name else tmp_path / name / "deep" / "file"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("1")
    monkeypatch.setattr(build_book, "ROOT", tmp_path)
    for page in EDITED:
        (tmp_path / page).write_text("1")

    def jupyter_book(commands: Iterable[tuple[list[str], Path, dict[str, str]]]) -> int:
        [(command, _, _)] = commands
        new = Path(command[-1]) / "_build"
        assert new.exists() != ("--all" in command)
        (new / "html").mkdir(parents=True, exist_ok=True)
        (new / "html" / "index.html").write_text("a page")
        (new / ".doctrees").mkdir(exist_ok=True)
        (new / ".doctrees" / "read").write_text("what Sphinx keeps")
        return 0

    monkeypatch.setattr(build_book, "run_side_by_side", jupyter_book)
    return tmp_path


EDITED = ("chapters/masks.ipynb", "book/index.md")


def builds(folder: Path, capsys: pytest.CaptureFixture[str], always: bool = False) -> bool:
    """Whether a call builds the book, or finds that nothing has changed."""
    return bool(built(folder, capsys, always))


def built(folder: Path, capsys: pytest.CaptureFixture[str], always: bool = False) -> str:
    """What a call builds: "the book", "the pages that have changed", or nothing."""
    html = folder / "_build" / "html"
    assert build_book.build(html, folder / "_build" / "part", always) == 0
    assert (html / "index.html").read_text() == "a page"
    return capsys.readouterr().out.partition("Building ")[2].partition(" ...")[0]


def test_a_book_is_built_once(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert builds(book, capsys)
    assert not builds(book, capsys)
    assert builds(book, capsys, always=True)
    assert not builds(book, capsys)
    for folder in ("chapters/.ipynb_checkpoints", "src/deep/__pycache__"):
        (book / folder).mkdir()
        (book / folder / "file").touch()
    assert not builds(book, capsys), "tools keep those for themselves"


@pytest.mark.parametrize("name", build_book.INPUTS)
def test_every_input_builds_the_book_anew(
    name: str, book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert builds(book, capsys)
    place = book / name
    (place if place.is_file() else place / "deep" / "file").write_text("2")
    assert builds(book, capsys)
    assert not builds(book, capsys)
    if place.is_dir():
        (place / "new").write_text("")
        assert builds(book, capsys)
        (place / "new").rename(place / "newer")
        assert builds(book, capsys)


def test_after_an_edit_of_pages_the_others_are_kept(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert built(book, capsys) == "the book"
    for page in EDITED:
        (book / page).write_text("2")
        assert built(book, capsys) == "the pages that have changed"
        assert not builds(book, capsys)
    (book / EDITED[0]).write_text("3")
    assert built(book, capsys, always=True) == "the book"
    (book / EDITED[0]).write_text("4")
    (book / "src" / "deep" / "file").write_text("4")
    assert built(book, capsys) == "the book", "of all that reads src"
    (book / EDITED[0]).rename(book / "chapters" / "another.ipynb")
    assert built(book, capsys) == "the book", "a page more, a page less"


@pytest.mark.parametrize("lost", ["html/index.html", "sphinx/en/.doctrees/read", "built.json"])
def test_pages_are_kept_only_where_all_of_the_last_build_is_there(
    book: Path, capsys: pytest.CaptureFixture[str], lost: str
) -> None:
    assert builds(book, capsys)
    (book / EDITED[0]).write_text("2")
    (book / "_build" / lost).unlink()
    if lost.startswith("sphinx"):
        shutil.rmtree(book / "_build" / "sphinx")
    assert built(book, capsys) == "the book"


def test_an_edit_that_fails_to_build_loses_nothing(
    book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert builds(book, capsys)
    (book / EDITED[0]).write_text("a broken link")
    with monkeypatch.context() as broken:
        broken.setattr(build_book, "run_side_by_side", lambda _: 1)
        html = book / "_build" / "html"
        assert build_book.build(html, html.with_name("part"), always=False) == 1
    assert (html / "index.html").read_text() == "a page"
    capsys.readouterr()
    (book / EDITED[0]).write_text("a mended link")
    assert built(book, capsys) == "the pages that have changed"


def test_what_else_may_change_builds_the_book_anew(
    book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    html = book / "_build" / "html"
    changes = (
        lambda: monkeypatch.setenv("QKV_REPOSITORY", "https://github.com/a/b"),
        lambda: monkeypatch.setattr("sys.version", "3.99"),
        lambda: monkeypatch.setattr("importlib.metadata.distributions", list),
        lambda: (html / "index.html").write_text("edited by hand"),
        lambda: (html / "index.html").unlink(),
        lambda: (html / "more.html").touch(),
        lambda: html.with_name("built.json").write_text("half of i"),
        lambda: html.with_name("built.json").unlink(),
    )
    assert builds(book, capsys)
    for change in changes:
        change()
        assert builds(book, capsys)
        assert not builds(book, capsys)


def test_clean_leaves_no_cache_of_any_tool(tmp_path: Path) -> None:
    """And nothing else: what a writer has made stays."""
    (tmp_path / "Makefile").write_bytes((CI.parent.parent / "Makefile").read_bytes())
    names = ("src", "tests", "tools", "book", "chapters", "benchmarks", ".venv")
    for folder in (*(tmp_path / name for name in names), tmp_path / "src" / "qkv"):
        folder.mkdir()
        (folder / "kept").touch()
        for cache in ("__pycache__", ".ruff_cache", ".mypy_cache", ".ipynb_checkpoints"):
            (folder / cache / "inner").mkdir(parents=True)
    (tmp_path / ".ipynb_checkpoints").mkdir()
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)
    left = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_dir()}
    outside = {path for path in left if path.parts[0] != ".venv"}
    assert outside == {Path(name) for name in (*names, "src/qkv") if name != ".venv"}
    assert (tmp_path / ".venv" / "__pycache__").is_dir()
    assert (tmp_path / "src" / "qkv" / "kept").is_file()
