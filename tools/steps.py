"""The steps of a test run: what each of them calls, and what it needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One command. `needs` names what must be there: the built book, a browser."""

    name: str
    title: str
    command: tuple[str, ...]
    needs: tuple[str, ...] = ()

    @property
    def is_pytest(self) -> bool:
        return "pytest" in self.command


def pytest(*arguments: str) -> tuple[str, ...]:
    common = ("-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1")  # this one names files
    return ("-m", "pytest", *common, *arguments)


# Each process keeps to files of its own as long as it can, so that what a file's tests share (a
# server, a trained model, an opened page) is mostly made once.
IN_HALVES = ("-n", "2", "--dist", "worksteal")
NOTEBOOKS = ("--nbval", "--nbval-current-env", "chapters")
SEPARATE_STEPS = ("browser", "chapters/live", "book/test_links.py")
UNIT = ("tests", *(f"--ignore=tests/{name}" for name in SEPARATE_STEPS))
STEPS = (
    Step("format", "formatting", ("-m", "ruff", "format", "--check", ".")),
    Step("lint", "lint", ("-m", "ruff", "check", ".")),
    Step("types", "types", ("-m", "mypy")),
    Step("html", "the book, warnings as errors", ("tools/build_book.py", "--always")),
    Step("links", "internal links", pytest("tests/book/test_links.py"), ("book",)),
    Step("unit", "unit tests", pytest(*IN_HALVES, *UNIT)),
    Step("notebooks", "every notebook cell", pytest("-n", "2", "--dist", "loadscope", *NOTEBOOKS)),
    Step("browser", "pages in a browser", pytest(*IN_HALVES, "tests/browser"), ("book", "browser")),
)

# Takes as long as the chapters are many, so it runs only when it is named.
LIVE = Step("live", "every chapter's cells", pytest("tests/chapters/live"), ("book", "browser"))

# What `make release-check` runs beside the rest: the tests marked "release", which pyproject.toml
# leaves out of every other run. They build or install all of what is published. Not all of `tests`
# is collected: two folders may have a file of the same name.
RELEASE_TESTS = ("tests/assignments", "tests/browser", "tests/tools/test_distribution.py")
RELEASE = Step(
    "release",
    "all that is published",
    pytest(*IN_HALVES, "-m", "release", *RELEASE_TESTS),
    ("book", "browser"),
)
