"""The version stands in three files, for pip, for who cites, and for who reads what has changed."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
HEADING = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - (unreleased|\d{4}-\d\d-\d\d)$", re.M)


def stated(project: str, citation: str, changelog: str) -> tuple[str, str | None]:
    """The version and the day of its release, once the three files agree on them."""
    version = tomllib.loads(project)["project"]["version"]
    cited = yaml.safe_load(citation)
    latest, day = HEADING.findall(changelog)[0]
    assert version == cited["version"] == latest
    released = cited.get("date-released")
    assert (str(released) if released else "unreleased") == day
    return version, released


FILES = [(ROOT / name).read_text("utf-8") for name in ("pyproject.toml", "CITATION.cff")]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_three_agree() -> None:
    stated(*FILES, CHANGELOG)
    headings = [line for line in CHANGELOG.splitlines() if line.startswith("## ")]
    assert len(HEADING.findall(CHANGELOG)) == len(headings)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (0, r'^version = ".*"', 'version = "0.9.0"'),
        (1, r"^version: .*", "version: 0.9.0"),
        (1, r"^version: ", "date-released: 1999-01-01\nversion: "),
        (2, r"^## \[\d+", "## [0"),
        (2, r"^(## \[[^]]*\] - ).*", r"\g<1>1999-01-01"),
    ],
)
def test_a_file_that_was_forgotten_is_found(file: int, old: str, new: str) -> None:
    texts = [*FILES, CHANGELOG]
    texts[file], changes = re.subn(old, new, texts[file], count=1, flags=re.M)
    assert changes == 1
    with pytest.raises(AssertionError):
        stated(*texts)
