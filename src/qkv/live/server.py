"""Jupyter server for one reader, on this machine only: the built book and its kernels."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

from jupyter_server.serverapp import ServerApp
from tornado.httpserver import HTTPServer
from tornado.log import gen_log
from traitlets import Bool, List, Unicode
from traitlets.config import Config

from qkv.live.connections import BookHTTPServer
from qkv.live.content_security_policy import SECURITY_HEADERS
from qkv.live.data_folder import book_opened
from qkv.live.handlers import NotFoundHandler, add_handlers
from qkv.live.kernel_managers import (
    TRANSPORT,
    BookKernelManager,
    NoDelayConnection,
    NoFilesContentsManager,
    OwnKernelSpecManager,
    TokenIdentityProvider,
)
from qkv.live.logs import OnceAMinute, PrintableFormatter
from qkv.live.origin import HOST, listen_on_loopback, other_hosts, random_name
from qkv.live.private_folder import folder_beside, private_folder
from qkv.live.services import service_handlers

# What is answered to; Jupyter has more, such as a page to sign in at, files of its own, figures.
ANSWERED = r"(?:$|(?:book|api/(?:kernels|kernelspecs|sessions|status|me))(?:/|$))"
MAX_BODY = 2**16  # bytes; a page of the book sends some hundred
END_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
KILL_SIGNAL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has no other


class BookServer(ServerApp):
    """Jupyter's server, cut down to the book; reads no configuration but what it is given."""

    _log_formatter_cls = PrintableFormatter
    # What a page asks for to run its cells: of Jupyter's other services, none.
    default_services = ("api", "kernels", "kernelspecs", "sessions")  # type: ignore[assignment]

    book = Unicode(help="The folder of the built book.")
    public = Unicode(help="The address that the reader opens, with neither path nor slash.")
    show = Bool(help="Open a browser.")
    sockets: List[socket.socket] = List(help="What it listens at.")

    def load_config_file(self, suppress_errors: bool = True) -> None:  # type: ignore[override]
        """Read none: a password, an open address or an extension set there is not for this."""

    def migrate_config(self) -> None:
        """Touch no folder of the reader's."""

    def init_webapp(self) -> None:
        super().init_webapp()
        elsewhere = rf"(?!{re.escape(self.base_url)}{ANSWERED}).*"
        services = service_handlers(self.base_url)
        self.web_app.add_handlers(other_hosts(self.local_hostnames), [(".*", NotFoundHandler)])
        self.web_app.add_handlers(".*$", [(elsewhere, NotFoundHandler), *services])
        add_handlers(self.web_app, Path(self.book))

    def init_httpserver(self) -> None:
        HTTPServer.configure(BookHTTPServer)
        super().init_httpserver()

    def _find_http_port(self) -> None:
        """Look for none: it has its sockets."""

    def _bind_http_server_tcp(self) -> bool:
        self.http_server.add_sockets(self.sockets)
        return True

    @property
    def link(self) -> str:
        """What the reader opens, the only way in."""
        return f"{self.public}{self.default_url}?token={self.identity_provider.token}"

    @property
    def connection_url(self) -> str:
        """The address that the browser is led to, in the file that it opens."""
        return f"{self.public}{self.base_url}"

    def init_logging(self) -> None:
        """Log Jupyter's warnings, and not tornado's, each kind of them once a minute.

        Of each run's first kernel tornado says that the times of Jupyter's pings do not fit its
        own, which nobody can mend here.
        """
        super().init_logging()
        gen_log.setLevel(logging.ERROR)
        logging.getLogger("asyncio").parent = self.log
        for handler in self.log.handlers:
            handler.addFilter(OnceAMinute())

    def init_signal(self) -> None:
        """Ctrl-C ends it; Jupyter would ask whether it is meant. A second one waits for nothing."""
        on_end_signals(self._end)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self._stopping:
            raise KeyboardInterrupt
        self.stop(from_signal=True)

    async def cleanup_kernels(self) -> None:
        """End the kernels at once: asked politely, a busy one takes seconds and prints an error.

        Jupyter's shutdown_all stops at a kernel that failed to start, and the server then runs on.
        """
        ends = [self._kill(each) for each in self.kernel_manager.list_kernel_ids()]
        await asyncio.gather(*ends, return_exceptions=True)

    async def _kill(self, name: str) -> None:
        """Jupyter interrupts each before it kills it, of which an idle one may complain."""
        kernel: Any = self.kernel_manager.get_kernel(name)
        if kernel.has_kernel:
            await kernel.signal_kernel(KILL_SIGNAL)
        await self.kernel_manager.shutdown_kernel(name, now=True)

    async def _post_start(self) -> None:
        """Called once connections are taken: the link works when it is printed."""
        await super()._post_start()  # type: ignore[no-untyped-call]
        print(f"The book is at {self.link} (Ctrl-C ends).", flush=True)
        if sys.platform == "darwin" and self.local_hostnames[0].endswith(".localhost"):
            print("Safari may not find it: give ADDRESS=127.0.0.1 to make, or --address to qkv.")
        if self.show:
            self.launch_browser()


def on_end_signals(handler: Callable[[int, FrameType | None], None]) -> None:
    """Take every signal that asks this program to end, but one that it shall ignore (nohup)."""
    for number in END_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def server_config(
    name: str, port: int, base: str, origin: str, idle: float, kernels: int
) -> Config:
    """The configuration of a BookServer; all else is Jupyter's default.

    Args:
        name: the only name that it answers to, but for those that a port forward may use.
        base: the path under which everything lies, "/…/".
        origin: the address of a port forward, "https://…", or "".
        idle: minutes that a kernel outlives its last open page.
        kernels: how many there may be.
    """
    config = Config()
    server = config.ServerApp
    server.ip, server.port = HOST, port
    # Cookies know no ports. Where the address is no name of this run's own, a page on another port
    # of this machine, and the server behind it, would be sent ours, were they not kept to a path
    # that it cannot know. Those that it sets reach this server: under names that it cannot know
    # either, none of them stands in for one of ours.
    server.base_url, server.default_url = base, f"{base}book/"
    server.allow_remote_access = False  # a Host header of another name is refused: no DNS rebinding
    server.local_hostnames = [urlsplit(origin).hostname, "localhost", HOST] if origin else [name]
    server.allow_unauthenticated_access = False
    server.allow_origin = origin
    server.cookie_secret = secrets.token_bytes(32)  # not the stored one: cookies end with the run
    server.allow_root = True  # in a container everybody is; loopback lets in nobody else
    server.open_browser = False  # later, when connections are taken
    server.terminals_enabled = False
    server.contents_manager_class = NoFilesContentsManager
    server.identity_provider_class = TokenIdentityProvider
    server.kernel_manager_class = BookKernelManager
    server.kernel_spec_manager_class = OwnKernelSpecManager
    server.kernel_websocket_connection_class = NoDelayConnection
    server.extra_template_paths = [str(Path(__file__).parent / "templates")]
    server.log_level = logging.WARNING
    server.tornado_settings = {
        "headers": SECURITY_HEADERS,
        "compress_response": True,
        "xsrf_cookie_name": f"xsrf-{secrets.token_urlsafe(12)}",
        "xsrf_cookie_kwargs": {"path": base, "samesite": "Strict", "httponly": True},
    }
    # Before it is known who asks, all of a request is kept in memory.
    server.max_body_size = MAX_BODY
    config.IdentityProvider.token = secrets.token_urlsafe(32)
    config.IdentityProvider.cookie_name = f"reader-{secrets.token_urlsafe(12)}"
    config.IdentityProvider.cookie_options = {"samesite": "Lax", "httponly": True}
    config.KernelManager.transport = TRANSPORT
    config.BookKernelManager.max_kernels = kernels
    seconds = max(1, round(idle * 60))
    config.MappingKernelManager.cull_idle_timeout = seconds
    config.MappingKernelManager.cull_interval = min(60, seconds)
    config.MappingKernelManager.cull_connected = False
    config.MappingKernelManager.cull_busy = True  # an endless loop whose page is closed
    return config


def serve(
    folder: Path, port: int, show: bool, origin: str, idle: float, kernels: int, address: str
) -> None:
    """Serve a built book, its kernels starting under the current folder, until a signal ends it.

    Args:
        folder: the built book.
        port: where it listens, or 0 for any port that is free.
        show: open a browser.
        origin, idle, kernels: as in `server_config`.
        address: "localhost" or "127.0.0.1" for a browser that finds no name below localhost; or "".

    Raises:
        BookIsOpenError: another process of this user serves it.
        OSError: the port is taken.
    """
    on_end_signals(
        signal.default_int_handler
    )  # from here on, no key and no page with the link stays
    base = f"/{secrets.token_urlsafe(12)}/"
    book = folder.resolve()
    name = address or random_name()
    with (
        book_opened(book) as tell_link,
        private_folder() as private,
        folder_beside(book, private) as opening,
    ):
        sockets = listen_on_loopback(port)
        port = sockets[0].getsockname()[1]
        app = BookServer(
            config=server_config(name, port, base, origin, idle, kernels),
            root_dir=str(Path.cwd()),
            config_dir=private,
            data_dir=private,
            runtime_dir=private,
            browser_open_file=str(Path(opening, "open.html")),
        )
        app.book, app.show, app.sockets = str(book), show, sockets
        app.public = origin or f"http://{name}:{port}"
        app.initialize(argv=[], find_extensions=False)
        tell_link(app.link)
        app.start()
