"""A book of one page, and a file for what a server says of it: both once for a module."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def toy_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("book")
    (folder / "index.html").write_text("<title>Toy</title>")
    return folder


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the server writes to its terminal."""
    return tmp_path_factory.mktemp("log") / "stderr.txt"
