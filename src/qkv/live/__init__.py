"""Live cells: the built book and its kernels from one Jupyter server.

`qkv serve` starts such a server for one reader (`server.py`). In a JupyterLab, a JupyterHub or a
Binder, this package is an extension that shows the same book at <base>/book/
(`server_extension.py`).
The two functions below are the names by which jupyter_server finds it; nothing else happens when
this module is imported, so that a Jupyter that has nothing to do with the book starts as fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "qkv.live"}]


def _load_jupyter_server_extension(app: ServerApp) -> None:
    from qkv.live.server_extension import load

    load(app)
