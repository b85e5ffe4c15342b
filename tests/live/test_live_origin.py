"""The address of a run: nobody else at its port, on either loopback address; no other name."""

from __future__ import annotations

import errno
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from qkv.live.origin import HOST, HOST_V6, PortError, listen_on_loopback, other_hosts, random_name
from tests.helpers.live_server import loopback

BOTH = loopback()


@contextmanager
def listening(port: int = 0) -> Iterator[list[socket.socket]]:
    sockets = listen_on_loopback(port)
    yield sockets
    for line in sockets:
        line.close()


def failing(monkeypatch: pytest.MonkeyPatch, number: int, times: int) -> None:
    """Make listening at ::1 fail a few times."""
    create, left = socket.create_server, [number] * times

    def create_server(address: tuple[str, int], **options: Any) -> socket.socket:
        if address[0] == HOST_V6 and left:
            raise OSError(left.pop(), "no")
        return create(address, **options)

    monkeypatch.setattr(socket, "create_server", create_server)


def test_a_free_port_is_taken_on_both_addresses() -> None:
    with listening() as sockets:
        ports = {line.getsockname()[1] for line in sockets}
        assert [line.getsockname()[0] for line in sockets] == [host for _, host in BOTH]
        assert len(ports) == 1
        for family, host in BOTH:
            with pytest.raises(OSError, match="in use"):
                socket.create_server((host, *ports), family=family)


@pytest.mark.parametrize(("family", "host"), BOTH)
def test_a_port_that_another_has_on_one_address_is_refused(family: Any, host: str) -> None:
    with socket.create_server((host, 0), family=family) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortError, match=f"Port {port} cannot be had"):
            listen_on_loopback(port)
    with listening(port):  # what was begun was given back
        pass


def test_of_free_ports_one_is_taken_that_is_free_on_both(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, errno.EADDRINUSE, 3)
    with listening() as sockets:
        assert len(sockets) == len(BOTH)


def test_a_machine_without_the_second_address_has_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failing(monkeypatch, errno.EADDRNOTAVAIL, 1)
    with listening() as sockets:
        assert [line.getsockname()[0] for line in sockets] == [HOST]


def test_every_other_name_is_another() -> None:
    pattern = re.compile(other_hosts(["abc.localhost"]))
    assert not pattern.match("abc.localhost")
    for host in ("localhost", HOST, HOST_V6, "abcxlocalhost", "x.abc.localhost", "abc.localhost.x"):
        assert pattern.match(host)


def test_names_are_drawn_anew() -> None:
    names = {random_name() for _ in range(100)}
    assert len(names) == 100
    assert all(re.fullmatch(r"[0-9a-f]{20}\.localhost", name) for name in names)
