"""The origin of one run: a name that nobody knows beforehand, and the sockets that it leads to.

A browser keeps by origin what pages store, service workers too, and a worker sees every request of
its origin, also the link with its token. On a fixed origin another user of this machine can leave
one, whenever the book is not served. So each run has a name of its own below localhost, which
browsers take for this machine without asking anybody (RFC 6761, section 6.3).
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import socket
from collections.abc import Sequence

HOST, HOST_V6 = "127.0.0.1", "::1"
# A name below localhost leads to both loopback addresses, and browsers may try the second first:
# who listens there alone would be sent the link.
LOOPBACK = ((socket.AF_INET, HOST), (socket.AF_INET6, HOST_V6))
NO_SUCH_ADDRESS = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}
BACKLOG = 128
TRIES = 20  # at a free port of 127.0.0.1 that is taken on ::1


class PortError(Exception):
    """A port at which this user cannot listen; its text says why, and what to do."""

    def __init__(self, port: int, error: OSError) -> None:
        why = os.strerror(error.errno or 0)
        which = f"Port {port}" if port else "A port of this machine"
        super().__init__(
            f"{which} cannot be had ({why}). Unless you name one, a free one is taken."
        )


def random_name() -> str:
    """A name below localhost that cannot be guessed; browsers write it in lower case."""
    return f"{secrets.token_hex(10)}.localhost"


def listen_on_loopback(port: int) -> list[socket.socket]:
    """Sockets that listen at one port of 127.0.0.1 and, where the machine has it, of ::1.

    Args:
        port: the port, or 0 for one that is free.

    Raises:
        PortError: the port, or each one that was tried, is taken on either address.
    """
    for tries_left in reversed(range(1 if port else TRIES)):
        try:
            return _listen(port)
        except OSError as error:
            if not tries_left or error.errno != errno.EADDRINUSE:
                raise PortError(port, error) from None
    raise AssertionError


def _listen(port: int) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    try:
        for family, address in LOOPBACK:
            try:
                line = socket.create_server((address, port), family=family, backlog=BACKLOG)
            except OSError as error:
                if sockets and error.errno in NO_SUCH_ADDRESS:
                    continue  # a machine without IPv6, where nobody else can listen there either
                raise
            line.setblocking(False)
            sockets.append(line)
            port = line.getsockname()[1]
    except OSError:
        for line in sockets:
            line.close()
        raise
    return sockets


def other_hosts(names: Sequence[str]) -> str:
    """A pattern for tornado of every Host but these names, whatever port is written after them."""
    return rf"(?!(?:{'|'.join(map(re.escape, names))})$).*$"
