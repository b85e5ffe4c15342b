"""The licences of what the book carries stand in it, and every page leads to them."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

import pytest
from sphinx.errors import ExtensionError

from qkv.fonts import FONTS
from tools.slides.__main__ import FROM_NPM

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "extensions"))

live_code, third_party = map(importlib.import_module, ("live_code", "third_party_notices"))


@pytest.fixture(scope="module")
def text() -> str:
    return str(third_party.notices())


def part(text: str, package: str) -> str:
    """What stands below the title of a package, up to the next title."""
    titles = list(re.finditer(r"^(.+) [0-9.]+(?:, .+)?\n=+$", text, re.MULTILINE))
    assert package in [title[1] for title in titles]
    ends = [title.start() for title in titles[1:]] + [len(text)]
    return "".join(
        text[title.end() : end]
        for title, end in zip(titles, ends, strict=True)
        if title[1] == package
    )


@pytest.mark.parametrize("package", [*third_party.PYTHON, *third_party.NPM])
def test_each_package_has_its_owner_and_the_words_of_its_licence(text: str, package: str) -> None:
    notice = part(text, package)
    assert "Copyright" in notice
    assert re.search(r"Redistribution and use|Permission is hereby granted", notice)


def test_what_the_live_page_loads_and_what_npm_brings_is_named() -> None:
    manifest = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    licences = {*FROM_NPM, *(font.licence for font in FONTS.values())}
    with_slides = {
        name
        for name in manifest["dependencies"]
        if any(licence.startswith(f"{name}/LICENSE") for licence in licences)
    }
    assert {*third_party.NPM} == {*manifest["dependencies"]} - with_slides
    assert {*third_party.NPM} == {*live_code.VENDORED}


def test_thebe_has_its_own_name_and_not_ours(text: str) -> None:
    notice = part(text, "thebe")
    assert "Copyright (c) Executable Books Project" in notice
    assert "The authors of The Runnable Transformer" not in notice
    assert "jQuery JavaScript Library" in notice  # bundled in its scripts


def test_a_package_without_a_licence_stops_the_build(tmp_path: Path) -> None:
    about = {"name": "odd", "version": "1", "license": "MIT"}
    (tmp_path / "package.json").write_text(json.dumps(about))
    with pytest.raises(ExtensionError, match=r"no licence in .*: MIT"):
        list(third_party.npm_notices(tmp_path, ""))


def test_a_distribution_without_a_licence_stops_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("third_party_notices.files", lambda name: [])
    with pytest.raises(ExtensionError, match="sphinx is installed without its licence"):
        list(third_party.python_notices("sphinx"))
