"""Tests of pages and servers wait for a condition under one bound: none sleeps, or has its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import waiting

TESTS = Path(__file__).parent
FOLDERS = ("browser", "chapters/live", "live", "helpers")
FILES = sorted({*(path for name in FOLDERS for path in (TESTS / name).glob("*.py"))})
FILES.remove(Path(waiting.__file__))
BOUNDS = {"WAIT_SECONDS", "WAIT_MILLISECONDS"}
SLEEPS = {"sleep", "wait_for_timeout"}
ANSWERED_LATER = {"set_viewport_size", "emulate_media"}
# What takes seconds or milliseconds without calling them a timeout.
TAKES_A_BOUND = {
    "wait",
    "join",
    "create_connection",
    "select",
    "settimeout",
    "set_default_timeout",
} | {
    "set_default_navigation_timeout",
    "set_options",
}
A_WHILE_LATER = re.compile(r"setTimeout\(.*,\s*[1-9]\d*\s*\)", re.DOTALL)


def faults(code: str) -> Iterator[str]:
    """The lines of a test file that wait for a time in place of a condition, and why."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Import(names=names) if any(each.name == "time" for each in names):
                yield f"{node.lineno}: a clock; count, or use tests/browser/computing.py"
            case ast.ImportFrom(module="time"):
                yield f"{node.lineno}: a clock; count, or use tests/browser/computing.py"
            case ast.Call():
                yield from faults_of(node)
            case ast.Constant(value=str(text)) if A_WHILE_LATER.search(text):
                yield f"{node.lineno}: setTimeout for a while; `until` or `after_timers`"


def faults_of(call: ast.Call) -> Iterator[str]:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name in SLEEPS:
        yield f"{call.lineno}: {name}; wait for a condition: `expect`, or `until`"
    if name in ANSWERED_LATER:
        yield f"{call.lineno}: {name}; the page answers a frame later: `view` waits for it"
    given = [each.value for each in call.keywords if each.arg == "timeout"]
    if name in TAKES_A_BOUND:
        given += [each for each in call.args if is_a_number(each)]
    for bound in given:
        if not (isinstance(bound, ast.Name) and bound.id in BOUNDS):
            yield f"{call.lineno}: {name} with {ast.unparse(bound)}; the bound is WAIT_SECONDS"


def is_a_number(argument: ast.expr) -> bool:
    return isinstance(argument, ast.Constant) and isinstance(argument.value, int | float)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(TESTS).as_posix())
def test_no_test_waits_for_a_time(path: Path) -> None:
    found = list(faults(path.read_text("utf-8")))
    assert not found, "\n".join(found)


PLANTED = [
    "import time",
    "from time import perf_counter",
    "page.wait_for_timeout(200)",
    "asyncio.sleep(1)",
    "expect(box).to_have_text('a', timeout=15_000)",
    "expect(box).to_have_text('a', timeout=PATIENCE)",
    "socket.create_connection(address, timeout=2 * WAIT_SECONDS)",
    "process.wait(10)",
    "thread.join(20.0)",
    "socket.create_connection(address, 5)",
    "page.set_default_timeout(5000)",
    "page.set_viewport_size({'width': 375, 'height': 700})",
    "page.emulate_media(color_scheme='dark')",
    "page.evaluate('() => new Promise((done) => setTimeout(() => done(hit), 300))')",
]
SOUND = [
    "process.wait(WAIT_SECONDS)",
    "page.goto(address, timeout=WAIT_MILLISECONDS)",
    "view(page, {'width': 375, 'height': 700}, color_scheme='dark')",
    "', '.join(words)",
    "live.run(first, 'import time; time.sleep(60)')",
    "page.evaluate('new Promise((done) => setTimeout(done))')",
    "until(lambda: server.asked, 'nobody asks', page=page)",
]


@pytest.mark.parametrize("line", PLANTED)
def test_a_wait_for_a_time_is_found(line: str) -> None:
    assert len(list(faults(line))) == 1


@pytest.mark.parametrize("line", SOUND)
def test_a_wait_for_a_condition_is_none(line: str) -> None:
    assert not list(faults(line))


def test_until_ends_with_what_it_found_or_says_what_it_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = iter(["", "", "there"])
    assert waiting.until(lambda: next(answers), "never") == "there"
    monkeypatch.setattr(waiting, "WAIT_SECONDS", 0)
    with pytest.raises(AssertionError, match="the log says no"):
        waiting.until(lambda: False, lambda: "the log says no")
