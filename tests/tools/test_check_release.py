"""A tag is released only if three files name its version, and two of them one day."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tools.check_release import HEADING, ROOT, ReleaseError, check_tag, read_release
from tools.colab import repository_address

FILES = ("pyproject.toml", "CITATION.cff", "CHANGELOG.md")
DAY = "2031-02-03"
RELEASE = read_release()


@pytest.fixture
def released(tmp_path: Path) -> Path:
    return as_released(tmp_path)


def as_released(folder: Path) -> Path:
    """Fill a folder with the three files as they are on the day of a release."""
    for name in FILES:
        (folder / name).write_text((ROOT / name).read_text("utf-8"), "utf-8")
    edit(folder / "CHANGELOG.md", r"^(## \[[^]]*\] - ).*", rf"\g<1>{DAY}")
    citation = re.sub(r"(?m)^date-released: .*\n", "", (folder / "CITATION.cff").read_text())
    (folder / "CITATION.cff").write_text(f"{citation}date-released: {DAY}\n", "utf-8")
    return folder


def edit(file: Path, old: str, new: str) -> None:
    text, changes = re.subn(old, new, file.read_text("utf-8"), count=1, flags=re.M)
    assert changes == 1
    file.write_text(text, "utf-8")


def test_the_files_agree_today() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == RELEASE.version
    assert str(cited.get("date-released", "unreleased")) == RELEASE.day


def test_the_address_stands_wherever_it_must_once_it_is_set() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    address = repository_address()
    assert cited.get("repository-code", "") == address
    assert project.get("urls", {}).get("Repository", "") == address


def test_every_version_of_the_changelog_is_read() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert [match[0] for match in HEADING.finditer(text)] == headings


def test_a_release_has_the_changes_of_its_version_alone(released: Path) -> None:
    with (released / "CHANGELOG.md").open("a", encoding="utf-8") as file:
        file.write("\n## [0.0.1] - 2030-01-01\n\n- Older.\n")
    release = check_tag(f"v{RELEASE.version}", released)
    assert release.day == DAY
    assert release.changes == RELEASE.changes
    assert release.changes.startswith("### ")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("pyproject.toml", r'^version = ".*"', 'version = "0.9.0"', "pyproject.toml 0.9.0, CITAT"),
        ("CITATION.cff", r"^version: .*", "version: 0.9.0", "CITATION.cff 0.9.0, CHANGELOG.md 1"),
        ("CHANGELOG.md", r"^## \[[^]]*", "## [0.9.0", "CHANGELOG.md 0.9.0"),
        ("CHANGELOG.md", r"^## \[.*", "## 1.0", "expected a heading such as ## [1.0.0]"),
        ("CITATION.cff", r"^date-released: .*", "date-released: 1999-01-01", "is 1999-01-01, the"),
        ("CITATION.cff", r"^date-released: .*", "", "of CITATION.cff is unreleased, the heading"),
    ],
)
def test_a_file_that_was_forgotten_is_named(
    name: str, old: str, new: str, message: str, released: Path
) -> None:
    edit(released / name, old, new)
    with pytest.raises(ReleaseError, match=re.escape(message)):
        check_tag(f"v{RELEASE.version}", released)


def test_another_tag_is_refused(released: Path) -> None:
    with pytest.raises(ReleaseError, match=rf"must be v{RELEASE.version}, .* got v9.9.9"):
        check_tag("v9.9.9", released)


def test_a_version_without_a_day_is_not_released(released: Path) -> None:
    edit(released / "CHANGELOG.md", DAY, "unreleased")
    edit(released / "CITATION.cff", rf"^date-released: {DAY}", "")
    with pytest.raises(ReleaseError, match="has no day yet: write it into"):
        check_tag(f"v{RELEASE.version}", released)


@pytest.mark.parametrize(
    ("arguments", "status", "said"), [((), 2, "usage: "), (("v9",), 1, "check_release: ")]
)
def test_the_command_says_in_one_line_what_is_wrong(
    arguments: tuple[str, ...], status: int, said: str
) -> None:
    script = ROOT / "tools" / "check_release.py"
    done = subprocess.run(
        [sys.executable, "-I", script, *arguments], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
