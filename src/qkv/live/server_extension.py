"""Jupyter Server extension: the book at <base>/book/ of a server; chapters saved as stored."""

from __future__ import annotations

import os
from pathlib import Path

from jupyter_server.serverapp import ServerApp

from qkv.live.handlers import add_handlers
from qkv.notebooks.front_end import with_front_end
from qkv.notebooks.save_hook import keep_stored_form

CHECKOUT = Path(__file__).resolve().parents[3]


def book_folder() -> Path:
    """Where the built book is: QKV_BOOK, or _build/html beside the code that runs here.

    Not _build/html in the folder where Jupyter was started: its pages run with all the rights of
    the reader, and somebody may start Jupyter in a folder that he has from a stranger.
    """
    return Path(os.environ.get("QKV_BOOK") or CHECKOUT / "_build" / "html").resolve()


def load(app: ServerApp) -> None:
    """Show the book in this server; until it is built, its address says how to build it.

    A chapter that is saved here keeps its stored form, and one that is opened here gets what its
    explorers are drawn by.
    """
    contents = app.contents_manager
    contents.register_pre_save_hook(keep_stored_form)
    contents.get = with_front_end(contents.get)  # type: ignore[method-assign]
    add_handlers(app.web_app, book_folder())
