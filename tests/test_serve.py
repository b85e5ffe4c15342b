"""The static server: this machine only, a clear word about a port, a clean end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.serve import HOST

SERVE = [sys.executable, str(Path(__file__).parent.parent / "tools" / "serve.py")]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text("<title>Toy</title>")
    return tmp_path


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        yield other.getsockname()[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*SERVE, *arguments], capture_output=True, text=True, timeout=20)


def test_serves_until_interrupted(book: Path) -> None:
    port = free_port()
    quiet = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    command = [*SERVE, "--folder", str(book), "--port", str(port), "--open"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=quiet
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == f"The book is at http://{HOST}:{port}/ (Ctrl-C ends).\n"
        with urllib.request.urlopen(f"http://{HOST}:{port}/") as page:
            assert page.read() == b"<title>Toy</title>"
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=10)
    assert (server.returncode, out.strip(), err) == (0, "Closed.", "")


def test_port_in_use(book: Path, taken: int) -> None:
    for more in ([], ["--probe"]):
        told = run("--folder", str(book), "--port", str(taken), *more)
        assert told.returncode == 1
        assert f"Port {taken} cannot be had (Address already in use)" in told.stderr
        assert "make book PORT=" in told.stderr


@pytest.mark.parametrize("port", ["0", "65536", "abc", "-1"])
def test_no_port(port: str) -> None:
    told = run("--port", port)
    assert told.returncode == 2
    assert "65535" in told.stderr or "expected one argument" in told.stderr


def test_no_book(tmp_path: Path) -> None:
    told = run("--folder", str(tmp_path), "--port", str(free_port()))
    assert told.returncode == 1
    assert "make html builds it" in told.stderr
