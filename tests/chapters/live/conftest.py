"""The browser of the other browser tests, and a server whose kernels round otherwise.

nbval runs every cell with the sums of this processor; here they run with others.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import book, browser, reader, readers  # noqa: F401
from tests.helpers.live_server import Server, serving
from tools.kernels import Setting, another, settings


@pytest.fixture(scope="session")
def setting() -> Setting:
    """Kernels of OpenBLAS and ATen unlike those that this processor would take."""
    return another(settings())


@pytest.fixture(scope="session")
def live_server(book: Path, setting: Setting) -> Iterator[Server]:  # noqa: F811
    with serving(book, env={**os.environ, **setting.environment}) as server:
        yield server
