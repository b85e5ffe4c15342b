"""What the server writes to the reader's terminal, when others have a say in it."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from qkv.live.logs import OnceAMinute, PrintableFormatter
from tests.helpers.live_server import Server, serving
from tests.live.test_connections import connect


def record(message: str, line: int = 1, created: float = 0.0) -> logging.LogRecord:
    made = logging.LogRecord("x", logging.WARNING, "x.py", line, message, None, None)
    made.created = created
    return made


def test_nobody_steers_the_terminal_by_an_address(tmp_path: Path) -> None:
    """U+009B begins an escape sequence, as ESC [ does: it was written as it came."""
    (tmp_path / "index.html").write_text("<title>Toy</title>")
    log = tmp_path / "stderr.txt"
    with log.open("wb") as stderr, serving(tmp_path, stderr=stderr) as server:
        request(server, b"/here\x9b2J\x9d0;title\x9c")
        for _ in range(50):
            request(server, b"/again")
    said = log.read_bytes().decode()
    assert r"/here\x9b2J\x9d0;title\x9c" in said
    assert all(letter.isprintable() or letter == "\n" for letter in said)
    assert said.count("404") == 1  # what is the same is said once a minute


def request(server: Server, path: bytes) -> None:
    with connect(server) as line:
        line.sendall(b"GET %b HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n" % path)
        while line.recv(2**16):
            pass


def test_a_message_and_each_line_of_a_traceback_are_cut_and_escaped() -> None:
    formatter = PrintableFormatter("%(message)s", color=False)
    assert formatter.format(record("a\x1b[2J\x9b\u202e그래\n b")) == (
        "a\\x1b[2J\\x9b\\u202e그래\n     b"
    )
    long = record("x" * 900_000)
    try:
        raise ValueError("\x1b]0;title\x07" + "y" * 900_000)
    except ValueError:
        long.exc_info = sys.exc_info()
    said = formatter.format(long)
    assert len(said) < 3000
    assert "ValueError: \\x1b]0;title\\x07yy" in said
    assert "test_logs.py" in said


def test_each_kind_of_message_is_said_once_a_minute() -> None:
    once = OnceAMinute()
    times = [0, 1, 59, 60, 61, 300, 299]
    said = [each for t in times if once.filter(each := record("asked", created=t))]
    assert [each.created for each in said] == [0, 60, 300, 299]
    assert [each.getMessage() for each in said] == [
        "asked",
        "(2 more like it before) asked",
        "(1 more like it before) asked",
        "asked",
    ]
    assert once.filter(record("other", line=2, created=300))
    failed = record("asked", created=300)
    failed.exc_info = (OSError, OSError(24), None)
    assert once.filter(failed)
