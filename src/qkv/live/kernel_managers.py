"""Jupyter Server's managers of kernels, narrowed to what the book needs; its identity provider."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from datetime import datetime
from typing import Any

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_server._tz import utcnow
from jupyter_server.auth.identity import IdentityProvider, User
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from jupyter_server.services.kernels.kernelmanager import (
    AsyncMappingKernelManager,
    ServerKernelManager,
)
from tornado import web
from traitlets import Integer, Set, TraitError, default

# The ports of a kernel on TCP are open to every user of the machine, its files are not.
TRANSPORT = "tcp" if os.name == "nt" else "ipc"
TOO_MANY_KERNELS = (
    "it runs on %d pages, as many as qkv serve --kernels allows: press Stop on one of them"
)
OUTPUT_CUT = "This cell prints faster than the page can show: some of it is left out here."


class TokenIdentityProvider(IdentityProvider):
    """Identity provider with the printed link's token as the only way in: no login, no logout."""

    login_available = False
    logout_available = False

    async def get_user(self, handler: JupyterHandler) -> User | None:  # type: ignore[override]
        """The reader or nobody; the connection of the reader is no longer a stranger's."""
        user: User | None = await super().get_user(handler)  # type: ignore[misc]
        if user is not None:
            server: Any = handler.serverapp
            server.http_server.sign_in(handler.request.connection)
        return user


class NoFilesContentsManager(AsyncLargeFileManager):
    """Contents manager that tells a session its folder, and serves no file: pages need none."""

    def get_extra_handlers(self) -> list[Any]:
        return []


class OwnKernelSpecManager(KernelSpecManager):
    """Kernel specs: the Python that runs this server, whatever kernels the reader has installed."""

    @default("kernel_dirs")
    def _kernel_dirs(self) -> list[str]:
        return []

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """The spec, with IPython's history in memory, and sockets that are files where they can be.

        To write each cell into that of all the reader's IPythons costs a small cell a third of its
        time, and the book's cells are not what they would look for.
        """
        spec: KernelSpec = super().get_kernel_spec(kernel_name)
        if TRANSPORT == "ipc":
            spec.argv[spec.argv.index("ipykernel_launcher")] = "qkv.live.kernel"
        spec.argv.append("--HistoryManager.hist_file=:memory:")
        return spec


class OneKernelManager(ServerKernelManager):
    """Manager of one kernel, which is "starting" when it is restarted, too.

    Jupyter's stays "busy" where it was busy when it was ended, and a busy one's connections are not
    tried before they are used: what its first cells print could get lost.
    """

    last_seen: datetime | None = None  # when the last page that was connected to it left

    async def restart_kernel(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        await super().restart_kernel(*args, **kwargs)
        self.execution_state = "starting"


class BoundedMessageBuffer(deque[tuple[str, list[bytes]]]):
    """Messages of a kernel whose page is away: every reply, of outputs the latest `max_bytes`.

    Jupyter keeps all outputs, so a closed tab on a cell that prints for ever fills the memory. The
    latest are the ones that a page needs when its connection is back: a cell's end is among them.
    """

    max_bytes = 2**20

    def __init__(self) -> None:
        super().__init__()
        self.n_bytes = 0

    def append(self, message: tuple[str, list[bytes]]) -> None:
        super().append(message)
        if message[0] == "iopub":
            self.n_bytes += sum(map(len, message[1]))
        while self.n_bytes > self.max_bytes:
            oldest = next(i for i, (channel, _) in enumerate(self) if channel == "iopub")
            self.n_bytes -= sum(map(len, self[oldest][1]))
            del self[oldest]


class BookKernelManager(AsyncMappingKernelManager):
    """Manager of all kernels: Jupyter's, but for four things.

    - `list_kernels` leaves out a kernel that is being started, which Jupyter's answers with a 500:
      a page asks for the list while its kernel starts.
    - What is kept for a page that is away has a limit, `BoundedMessageBuffer`.
    - A kernel ends some time after its last page left. Jupyter counts from its last activity, and
      to print is one: a cell that prints for ever would never end.
    - There are at most `max_kernels`: each takes 50 MB before its first cell.
    """

    max_kernels = Integer(20, config=True, help="How many kernels may run at a time.")

    @default("kernel_manager_class")
    def _kernel_manager_class(self) -> str:
        return f"{__name__}.{OneKernelManager.__name__}"

    starting = Set(help="Ids of kernels that are not listed yet.")

    async def start_kernel(  # type: ignore[override]
        self, *, kernel_id: str | None = None, **options: Any
    ) -> str:
        kernel_id = kernel_id or self.new_kernel_id()
        if (
            kernel_id not in self
            and len(self.starting.union(self.list_kernel_ids())) >= self.max_kernels
        ):
            raise web.HTTPError(503, TOO_MANY_KERNELS % self.max_kernels)
        self.starting.add(kernel_id)
        try:
            return await super().start_kernel(kernel_id=kernel_id, **options)
        finally:
            self.starting.discard(kernel_id)

    def kernel_model(self, kernel_id: str) -> dict[str, Any]:
        try:
            return dict(super().kernel_model(kernel_id))  # type: ignore[no-untyped-call]
        except TraitError:  # it has no time of last activity yet
            raise KeyError(kernel_id) from None

    def start_buffering(self, kernel_id: str, session_key: str, channels: dict[str, Any]) -> None:
        super().start_buffering(kernel_id, session_key, channels)  # type: ignore[no-untyped-call]
        self._kernel_buffers[kernel_id]["buffer"] = BoundedMessageBuffer()

    def notify_disconnect(self, kernel_id: str) -> None:
        super().notify_disconnect(kernel_id)  # type: ignore[no-untyped-call]
        if kernel_id in self:
            self.get_kernel(kernel_id).last_seen = utcnow()  # type: ignore[attr-defined]

    async def cull_kernel_if_idle(self, kernel_id: str) -> None:
        kernel: Any = self.get_kernel(kernel_id)
        kernel.last_activity = kernel.last_seen or kernel.last_activity
        await super().cull_kernel_if_idle(kernel_id)  # type: ignore[no-untyped-call]


class NoDelayConnection(ZMQChannelsWebsocketConnection):
    """WebSocket with TCP_NODELAY: else a small answer waits 40 ms for a delayed acknowledgement.

    Messages that come after the server has closed it, for a new connection of the same page, are
    dropped: Jupyter reads them in its older form, and is busy for seconds with each.

    What a kernel prints faster than `iopub_data_rate_limit` is left out, as in Jupyter; a page that
    cannot keep up would fill the server's memory. Jupyter's text names an option that is not here,
    and it leaves out errors too: a page could not say why its cell has ended.
    """

    def connect(self) -> asyncio.Future[None] | None:  # type: ignore[override]
        self.websocket_handler.set_nodelay(True)
        return super().connect()

    def create_stream(self) -> None:
        """Create the streams, which close at once, with what a dead kernel has not read.

        Jupyter's wait a second: an old stream then meets the next kernel under the identity of the
        page's new one, the kernel answers the old, and no cell of the page runs any more.
        """
        super().create_stream()  # type: ignore[no-untyped-call]
        for stream in self.channels.values():
            stream.socket.linger = 0

    def handle_incoming_message(self, incoming_msg: str) -> None:
        if self.websocket_handler.ws_connection is not None:
            super().handle_incoming_message(incoming_msg)

    def write_stderr(self, error_message: str, parent_header: Any) -> None:
        super().write_stderr(OUTPUT_CUT, parent_header)  # type: ignore[no-untyped-call]

    def _limit_rate(self, channel: str, msg: dict[str, Any], msg_list: list[bytes]) -> bool:
        msg["header"] = self.get_part("header", msg["header"], msg_list)  # type: ignore[no-untyped-call]
        if msg["header"]["msg_type"] == "error":
            return False
        return bool(super()._limit_rate(channel, msg, msg_list))  # type: ignore[no-untyped-call]
