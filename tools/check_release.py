"""Hold a release's tag to the version that the files state, and print what it has changed.

    python tools/check_release.py v1.0.0 > notes.md

pyproject.toml, CITATION.cff and CHANGELOG.md must name that version, and the last two one day: a
version without a day is not released yet. Needs nothing but Python: it runs before all else.
"""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADING = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - (unreleased|\d{4}-\d\d-\d\d)$", re.MULTILINE)
CITED = {
    name: re.compile(rf"^{name}: [\"']?([\w.-]+)[\"']?$", re.MULTILINE)
    for name in ("version", "date-released")
}


class ReleaseError(Exception):
    """What keeps the files from being released, and the mend."""


@dataclass(frozen=True)
class Release:
    """The version that the files state, its day or "unreleased", and what its changelog says."""

    version: str
    day: str
    changes: str


def read_release(root: Path = ROOT) -> Release:
    """The latest version.

    Raises:
        ReleaseError: the three files do not agree.
    """
    project, citation, changelog = (
        (root / name).read_text(encoding="utf-8")
        for name in ("pyproject.toml", "CITATION.cff", "CHANGELOG.md")
    )
    headings = list(HEADING.finditer(changelog))
    if not headings:
        raise ReleaseError("CHANGELOG.md: expected a heading such as ## [1.0.0] - unreleased")
    version, day = headings[0].groups()
    matches = {name: pattern.search(citation) for name, pattern in CITED.items()}
    cited = {name: match[1] if match else "unreleased" for name, match in matches.items()}
    stated = {
        "pyproject.toml": tomllib.loads(project)["project"]["version"],
        "CITATION.cff": cited["version"],
        "CHANGELOG.md": version,
    }
    if len(set(stated.values())) > 1:
        each = ", ".join(f"{file} {value}" for file, value in stated.items())
        raise ReleaseError(f"the version must be one in all three files, got {each}")
    if cited["date-released"] != day:
        raise ReleaseError(
            f"the day must be one: date-released of CITATION.cff is {cited['date-released']}, "
            f"the heading of CHANGELOG.md says {day}"
        )
    end = headings[1].start() if len(headings) > 1 else len(changelog)
    return Release(version, day, changelog[headings[0].end() : end].strip())


def check_tag(tag: str, root: Path = ROOT) -> Release:
    """The release that a tag names.

    Raises:
        ReleaseError: the tag is of another version, or the files give it no day.
    """
    release = read_release(root)
    if tag != f"v{release.version}":
        raise ReleaseError(f"the tag must be v{release.version}, as the files state, got {tag}")
    if release.day == "unreleased":
        raise ReleaseError(
            f"{tag} has no day yet: write it into CHANGELOG.md, and as date-released into "
            "CITATION.cff"
        )
    return release


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: python tools/check_release.py v1.0.0", file=sys.stderr)
        return 2
    try:
        print(check_tag(sys.argv[1]).changes)
    except ReleaseError as error:
        print(f"check_release: {error}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
