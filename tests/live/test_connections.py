"""Connections of strangers: whoever has an account on this machine may open some, and how many."""

from __future__ import annotations

import http.client
import os
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import psutil
import pytest

from tests.helpers.live_server import HOST, Server, run, serving
from tests.helpers.waiting import WAIT_SECONDS

FILES = 256  # that this server may open, so that few connections are many
# What glibc has freed it gives back, so that the process is as large as what it holds.
GIVING_BACK = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


def few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))


@pytest.fixture(scope="module")
def server(toy_book: Path, log: Path) -> Iterator[Server]:
    with (
        log.open("w") as stderr,
        serving(
            toy_book, env=os.environ | GIVING_BACK, preexec_fn=few_files, stderr=stderr
        ) as running,
    ):
        yield running


def connect(server: Server) -> socket.socket:
    return socket.create_connection((HOST, server.port), timeout=WAIT_SECONDS)


def test_silent_connections_keep_nobody_out(server: Server, log: Path) -> None:
    """More than the server may open files: it used to answer nobody and to write megabytes."""
    kernel = server.session()["kernel"]["id"]
    page = http.client.HTTPConnection(HOST, server.port, timeout=WAIT_SECONDS)
    with ExitStack() as silent, closing(page), closing(server.socket(kernel)) as line:
        assert asked(page, server) == 200
        for _ in range(FILES + 64):
            silent.enter_context(connect(server))
        assert server.ask("book/").status == 200  # on a new connection,
        assert psutil.Process(server.process.pid).num_fds() < FILES / 2
        assert asked(page, server) == 200  # on an old one,
        assert run(line, "print(6 * 7)") == "42\n"  # and on one to a kernel
    assert log.stat().st_size < 10_000


def asked(connection: http.client.HTTPConnection, server: Server) -> int:
    """The status of the book's first page, asked for on a connection that is kept."""
    connection.request(
        "GET", f"{server.base}book/", headers={"Host": server.host, "Cookie": server.cookie}
    )
    answer = connection.getresponse()
    answer.read()
    return answer.status


def test_unfinished_headers_fill_no_memory(server: Server) -> None:
    memory = psutil.Process(server.process.pid).memory_info
    assert server.ask("api/status").status == 200  # what it imports for that is there
    before = memory().rss
    with ExitStack() as open_:
        for _ in range(48):
            line = open_.enter_context(connect(server))
            with suppress(OSError):  # it may hang up
                line.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * (2**20 - 100))
        assert server.ask("api/status").status == 200
        assert memory().rss - before < 30 * 2**20


def test_a_stranger_is_waited_for_a_short_time_and_the_reader_a_long_one(server: Server) -> None:
    """Seconds, where it was an hour: for the headers, for the body, for the next request."""
    head = f"POST / HTTP/1.1\r\nHost: {server.host}\r\n"
    page = http.client.HTTPConnection(HOST, server.port, timeout=WAIT_SECONDS)
    with ExitStack() as open_, closing(page):
        assert asked(page, server) == 200
        own, lines = page.sock, []
        for sent in ("", head, f"{head}Content-Length: 9\r\n\r\nx", f"{head}\r\n"):
            lines.append(open_.enter_context(connect(server)))
            lines[-1].sendall(sent.encode())
        for line in lines:
            while line.recv(2**16):  # until the server hangs up
                pass
        assert asked(page, server) == 200
        assert page.sock is own


@pytest.mark.parametrize("start", ["/", "/?", "{base}book/", "{base}book/?", "{base}api/"])
def test_an_endless_address_is_neither_looked_up_nor_logged(
    server: Server, log: Path, start: str
) -> None:
    """One of 900 kB filled the log, and with the cookie it stopped the server for half a minute."""
    path = start.format(base=server.base) + "x/" * 450_000
    before = log.stat().st_size
    for signed_in in (False, True):
        assert server.ask(path, signed_in=signed_in).status == 400
    assert server.ask("book/").status == 200
    assert log.stat().st_size - before < 1000
