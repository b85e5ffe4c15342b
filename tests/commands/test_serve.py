"""`qkv serve`: a clear word about what it cannot do, a link that works, a clean end."""

from __future__ import annotations

import functools
import re
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.helpers.live_server import (
    HOST,
    SERVE,
    Server,
    first_line,
    free_port,
    kernels,
    loopback,
    run,
    send,
    without_screen,
)
from tests.helpers.processes import run_python
from tests.helpers.waiting import WAIT_SECONDS, until


@pytest.fixture
def book(tmp_path: Path) -> Path:
    folder = tmp_path / "_build" / "html"
    folder.mkdir(parents=True)
    (folder / "index.html").write_text("<title>Toy</title>")
    return folder


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        yield other.getsockname()[1]


def run_serve(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SERVE, *arguments], capture_output=True, text=True, timeout=WAIT_SECONDS
    )


@contextmanager
def started(
    book: Path, *more: str, preexec_fn: Callable[[], Any] | None = None, **environment: str
) -> Iterator[subprocess.Popen[str]]:
    command = [*SERVE, "--folder", str(book), *more]
    environment = {"XDG_DATA_HOME": str(book.parents[1] / "data")} | environment
    environment = without_screen(**environment)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        command, text=True, env=environment, preexec_fn=preexec_fn, **pipes
    ) as process:
        try:
            yield process
        finally:
            process.terminate()  # not killed: it leaves no files behind
            process.wait(WAIT_SECONDS)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_serves_until_it_is_told_to_end(book: Path, short: Path, end: int) -> None:
    """A kernel in an endless loop keeps it no longer, and nothing is left behind."""
    told = functools.partial(signal.signal, end, signal.SIG_DFL)  # under nohup, not all are
    with started(book, preexec_fn=told, TMPDIR=str(short)) as process:
        server = Server.printed(process)
        answer = server.sign_in()
        assert (answer.status, answer.headers["Location"]) == (303, f"{server.base}book/")
        assert server.ask("book/").text == "<title>Toy</title>"
        (private,) = short.glob("qkv-*")
        assert private.stat().st_mode & 0o777 == 0o700
        line = server.socket(server.session()["kernel"]["id"])
        assert run(line, "print(6 * 7)") == "42\n"
        send(line, "while True: pass")
        running = kernels(process)
        assert len(running) == 1
        start = time.monotonic()
        process.send_signal(end)
        out, err = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, out) == (0, "Closed.\n")
    assert err == ""
    assert time.monotonic() - start < 10
    assert psutil.wait_procs(running, 5)[1] == []
    assert list(short.iterdir()) == []


def test_a_closed_terminal_leaves_nothing_behind(book: Path, short: Path) -> None:
    """Not even where it had no time to start: keys, and the page that opens the book."""
    code = (
        "import os, signal, sys; from qkv.live import server;"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL);"  # under nohup it would be ignored
        "server.BookServer.initialize = lambda *_, **__: os.kill(os.getpid(), signal.SIGHUP);"
        "from qkv.commands.serve import main;"
        f"sys.exit(main(['--folder', {str(book)!r}, '--port', '{free_port()}']))"
    )
    result = run_python(code, env=without_screen(TMPDIR=str(short)))
    assert (result.returncode, result.stdout, result.stderr) == (0, "Closed.\n", "")
    assert list(short.iterdir()) == []
    assert [path.name for path in book.parent.iterdir()] == ["html"]


def test_nohup_keeps_it(book: Path) -> None:
    ignore = functools.partial(signal.signal, signal.SIGHUP, signal.SIG_IGN)
    with started(book, preexec_fn=ignore) as process:
        server = Server.printed(process)
        process.send_signal(signal.SIGHUP)
        assert server.sign_in().status == 303


def test_ends_while_it_starts(book: Path) -> None:
    code = (
        "import sys; server = type(sys)('qkv.live.server');"
        "server.serve = lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt);"
        "sys.modules['qkv.live.server'] = server;"
        "from qkv.commands.serve import main;"
        f"sys.exit(main(['--folder', {str(book)!r}, '--port', '{free_port()}']))"
    )
    result = run_python(code)
    assert (result.returncode, result.stdout, result.stderr) == (0, "Closed.\n", "")


def test_a_long_path_to_temporary_files_is_no_obstacle(book: Path, tmp_path: Path) -> None:
    """A socket's path has a limit, and macOS has long ones."""
    long = tmp_path / ("x" * 60)
    long.mkdir()
    with started(book, TMPDIR=str(long)) as process:
        server = Server.printed(process)
        server.sign_in()
        with closing(server.socket(server.session()["kernel"]["id"])) as line:
            assert run(line, "print(6 * 7)") == "42\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_SECONDS) == 0


def test_port_in_use(book: Path, taken: int) -> None:
    result = run_serve("--folder", str(book), "--port", str(taken))
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        f"Port {taken} cannot be had (Address already in use). Unless you name one, "
        "a free one is taken.\n"
    )


def test_port_in_use_at_the_other_loopback_address(book: Path) -> None:
    """To which browsers send the link first: a port is taken on both, or not at all."""
    family, host = loopback()[-1]
    with socket.create_server((host, 0), family=family) as other:
        port = other.getsockname()[1]
        result = run_serve("--folder", str(book), "--port", str(port))
    assert result.returncode == 1
    assert f"Port {port} cannot be had" in result.stderr


def test_a_book_that_is_open_is_not_opened_again(book: Path) -> None:
    """It says where: by a file of this user alone, and as long as that server lives."""
    with started(book) as process:
        server = Server.printed(process)
        for port in ([], ["--port", str(server.port)]):
            with started(book, *port) as again:
                out, err = again.communicate(timeout=WAIT_SECONDS)
            assert (again.returncode, err) == (0, "")
            assert out == f"This book is open already: {server.link()}\n"
        data = book.parents[1] / "data"
        (link,) = data.glob("qkv/books/*/link")
        assert link.stat().st_mode & 0o777 == 0o600
        assert link.parent.stat().st_mode & 0o777 == 0o700
        with started(book, XDG_DATA_HOME=str(data / "other")) as another_reader:
            assert Server.printed(another_reader).port != server.port
    assert not link.exists()


def test_a_killed_server_leaves_its_book_closed(book: Path, short: Path) -> None:
    with started(book, TMPDIR=str(short)) as process:
        old = Server.printed(process)
        process.kill()
        process.wait(WAIT_SECONDS)
    (link,) = (book.parents[1] / "data").glob("qkv/books/*/link")
    assert link.read_text() == old.link()
    with started(book) as process:
        assert Server.printed(process).link() == link.read_text() != old.link()


def test_where_nothing_can_be_written_the_book_is_served(book: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with started(book, XDG_DATA_HOME=str(tmp_path / "file")) as process:
        assert Server.printed(process).sign_in().status == 303


@pytest.mark.parametrize("port", ["0", "65536", "abc", "-1", "²"])
def test_no_port(port: str) -> None:
    result = run_serve("--port", port)
    assert result.returncode == 2
    assert "65535" in result.stderr or "expected one argument" in result.stderr


@pytest.mark.parametrize("idle", ["0", "-1", "soon", "nan", "inf"])
def test_no_time(idle: str) -> None:
    result = run_serve("--idle", idle)
    assert result.returncode == 2
    assert "more than 0" in result.stderr or "expected one argument" in result.stderr


@pytest.mark.parametrize(
    "origin", ["*", "http://a.example", "https://a.example/x", "https://a b", "https://a;b", ""]
)
def test_no_origin(origin: str) -> None:
    result = run_serve("--origin", origin)
    assert result.returncode == 2
    assert "give https:// and a name" in result.stderr


def test_no_book(tmp_path: Path) -> None:
    result = run_serve("--folder", str(tmp_path), "--port", str(free_port()))
    assert result.returncode == 1
    assert f"There is no book in {tmp_path}" in result.stderr
    assert "make html builds it" in result.stderr


def test_no_jupyter_server(book: Path) -> None:
    """As after a bare `pip install qkv`."""
    code = (
        "import sys; sys.modules['jupyter_server'] = sys.modules['jupyter_client'] = None;"
        "from qkv.commands.serve import main;"
        f"sys.exit(main(['--folder', {str(book)!r}, '--port', '{free_port()}']))"
    )
    result = run_python(code)
    assert result.returncode == 1
    assert "pip install 'qkv[live]'" in result.stderr
    assert "Traceback" not in result.stderr


def test_opens_a_browser_with_no_token_in_its_command(book: Path, tmp_path: Path) -> None:
    """The file that it opens leads to the link, and only this user can read it."""
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(
        f'#!/bin/sh\necho "$@" > {seen}.part\ncat "${{1#file://}}" >> {seen}.part\n'
        f'stat -L -c %a "$(dirname "${{1#file://}}")" >> {seen}.part\nmv {seen}.part {seen}\n'
    )
    browser.chmod(0o700)
    with started(book, BROWSER=f"{browser} %s") as process:
        server = Server.printed(process)
        until(seen.exists, "no browser is opened")
        command, page = seen.read_text().split("\n", 1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=WAIT_SECONDS)
    assert command.startswith("file:///")
    assert server.token not in command
    address = server.link()
    assert re.search(r'http-equiv="refresh" content="0;url=([^"]*)"', page)[1] == address  # type: ignore[index]
    assert page.rstrip().endswith("700")
    opened = Path(command.strip().removeprefix("file://"))
    assert opened.parents[1] == book.resolve().parent  # where a browser from a snap can read it
    assert not opened.exists()


def test_a_port_forward_is_told_to_the_reader_and_to_nobody_else(book: Path) -> None:
    public = "https://toy-8000.app.example"
    port = free_port()
    with started(book, "--origin", public, "--port", str(port)) as process:
        match = re.fullmatch(
            r"The book is at https://toy-8000\.app\.example(/.*/)book/\?token=(\S*) .*\n",
            first_line(process),
        )
        assert match
        server = Server(process, port, match[1], match[2], "localhost")
        server.sign_in()
        page = server.ask("book/", headers={"Origin": public})
        kept = server.ask("book/", headers={"Host": "toy-8000.app.example"})
        rebound = server.ask("book/", headers={"Host": "evil.example"})
        stranger = server.ask("book/", headers={"Origin": "https://other-8000.app.example"})
    assert (page.status, kept.status, rebound.status, stranger.status) == (200, 200, 404, 403)
    assert "wss://toy-8000.app.example" in page.headers["Content-Security-Policy"]


def test_the_command_names_its_commands() -> None:
    def qkv(*arguments: str) -> subprocess.CompletedProcess[str]:
        code = "import sys; from qkv.commands import main; sys.exit(main())"
        return run_python(code, *arguments)

    for result in (qkv(), qkv("--help")):
        assert result.returncode == 0
        assert "qkv serve" in result.stdout
    wrong = qkv("swerve")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "'swerve'" in wrong.stderr
    assert "qkv serve" in wrong.stderr
    assert "65535" in qkv("serve", "--port", "0").stderr
