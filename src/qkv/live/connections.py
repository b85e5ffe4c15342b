"""HTTP server that strangers cannot fill: bounds on connections on which nobody has signed in.

Every user of the machine may connect to a port of it. What such a connection may take is little:
it counts as a stranger's until a request on it has shown the reader's cookie or token.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from copy import copy
from typing import Any

from tornado.http1connection import HTTP1Connection
from tornado.httpserver import HTTPServer
from tornado.httputil import (
    HTTPConnection,
    HTTPHeaders,
    HTTPInputError,
    HTTPMessageDelegate,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.iostream import IOStream

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

MAX_STRANGERS = 256  # connections
MAX_STRANGERS_BYTES = 2**24  # sent by all of them together
STRANGERS_SECONDS = 10  # until the headers of a request are there, and then until its body is
READERS_SECONDS = 3600  # between two requests on one connection; tornado's default
# Other programs on this machine may set cookies for its name: in Chromium 180, of 4 kB each.
MAX_HEADER = 2**20
MAX_TARGET = 2**13  # characters of a request's path and query; the book's longest has some hundred


def max_strangers() -> int:
    """How many they may be: of the files that this process may open, three quarters are left."""
    if resource is None:
        return MAX_STRANGERS
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_STRANGERS if limit == resource.RLIM_INFINITY else min(MAX_STRANGERS, limit // 4)


class CountedStream(IOStream):
    """Stream that tells how many bytes it has read, at each read."""

    def __init__(self, *args: Any, count: Callable[[CountedStream, int], None], **options: Any):
        super().__init__(*args, **options)
        self.count = count

    def read_from_fd(self, buf: bytearray | memoryview) -> int | None:
        n_bytes = super().read_from_fd(buf)
        self.count(self, n_bytes or 0)
        return n_bytes


class BoundedTargetDelegate(HTTPMessageDelegate):
    """Refuses a request with an endless address before it is parsed, looked up or logged."""

    def __init__(self, delegate: HTTPMessageDelegate) -> None:
        self.delegate = delegate

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> Awaitable[None] | None:
        if isinstance(start_line, RequestStartLine) and len(start_line.path) > MAX_TARGET:
            raise HTTPInputError(f"an address of {len(start_line.path)} characters")
        return self.delegate.headers_received(start_line, headers)

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        return self.delegate.data_received(chunk)

    def finish(self) -> None:
        self.delegate.finish()

    def on_connection_close(self) -> None:
        self.delegate.on_connection_close()


class BookHTTPServer(HTTPServer):
    """HTTPServer in which the oldest strangers give way, when they are too many or send too much.

    A new one is never turned away: the reader is a stranger, too, until the first request is read.
    """

    def initialize(self, *args: Any, **options: Any) -> None:
        options |= {
            "max_header_size": MAX_HEADER,
            "idle_connection_timeout": STRANGERS_SECONDS,
            "body_timeout": STRANGERS_SECONDS,
        }
        super().initialize(*args, **options)
        self.strangers_params = self.conn_params
        self.strangers: dict[IOStream, int] = {}  # with their bytes, the oldest first
        self.max_strangers = max_strangers()

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        counted = CountedStream(
            stream.socket, count=self._count, max_buffer_size=stream.max_buffer_size
        )
        self.strangers[counted] = 0
        self._make_room()
        self.conn_params = copy(self.strangers_params)  # its own, which sign_in may change
        super().handle_stream(counted, address)

    def sign_in(self, connection: HTTP1Connection) -> None:
        """Let a connection stay: a request on it has shown that it is the reader's."""
        if self.strangers.pop(connection.stream, None) is not None:
            connection.params.header_timeout = READERS_SECONDS

    def on_close(self, server_conn: Any) -> None:
        super().on_close(server_conn)
        self.strangers.pop(server_conn.stream, None)

    def start_request(
        self, server_conn: object, request_conn: HTTPConnection
    ) -> HTTPMessageDelegate:
        return BoundedTargetDelegate(super().start_request(server_conn, request_conn))

    def _count(self, stream: CountedStream, n_bytes: int) -> None:
        if stream in self.strangers:
            self.strangers[stream] += n_bytes
            self._make_room()

    def _make_room(self) -> None:
        while (
            len(self.strangers) > self.max_strangers
            or sum(self.strangers.values()) > MAX_STRANGERS_BYTES
        ):
            oldest = next(iter(self.strangers))
            del self.strangers[oldest]
            oldest.close()
