"""Parts of Jupyter's server that the book's server has in a narrower form."""

from __future__ import annotations

import asyncio
from typing import Any

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_server.auth.identity import IdentityProvider
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from jupyter_server.services.kernels.kernelmanager import (
    AsyncMappingKernelManager,
    ServerKernelManager,
)
from traitlets import TraitError, default


class Identity(IdentityProvider):
    """The token of the printed link is the only way in: no page to sign in at, none to sign out."""

    login_available = False
    logout_available = False


class NoFiles(AsyncLargeFileManager):
    """Tells a session its folder, and serves no file of it: the book's pages need none."""

    def get_extra_handlers(self) -> list[Any]:
        return []


class NativeKernel(KernelSpecManager):
    """The Python that runs this server and no other, whatever kernels the reader has installed."""

    @default("kernel_dirs")
    def _no_dirs(self) -> list[str]:
        return []

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Its history ends with it: to write each cell into that of all the reader's IPythons costs
        a small cell a third of its time, and the book's cells are not what they would look for."""
        spec: KernelSpec = super().get_kernel_spec(kernel_name)
        spec.argv.append("--HistoryManager.hist_file=:memory:")
        return spec


class Kernel(ServerKernelManager):
    """Is "starting" when it starts again, too.

    Jupyter's stays "busy" where it was busy when it was ended, and a busy one's connections are not
    tried before they are used: what its first cells print could get lost.
    """

    async def restart_kernel(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        await super().restart_kernel(*args, **kwargs)
        self.execution_state = "starting"


class Kernels(AsyncMappingKernelManager):
    """Leaves out of its list a kernel that is being started, which Jupyter's answers with a 500.

    A page asks for the list while its kernel starts.
    """

    @default("kernel_manager_class")
    def _ours(self) -> str:
        return f"{__name__}.{Kernel.__name__}"

    def kernel_model(self, kernel_id: str) -> dict[str, Any]:
        try:
            return dict(super().kernel_model(kernel_id))  # type: ignore[no-untyped-call]
        except TraitError:  # it has no time of last activity yet
            raise KeyError(kernel_id) from None


class PromptConnection(ZMQChannelsWebsocketConnection):
    """Sends at once: else a small answer waits for the browser's delayed acknowledgement, 40 ms."""

    def connect(self) -> asyncio.Future[None] | None:  # type: ignore[override]
        self.websocket_handler.set_nodelay(True)
        return super().connect()
