"""Folders of one run that only this user can enter: sockets, keys, the file that opens the book."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from qkv.files import file_lock

# A socket's path has at most about 100 characters; a kernel's is its folder and 50 more.
MAX_FOLDER_LENGTH = 48


@contextmanager
def private_folder() -> Iterator[str]:
    """A new folder that only this user can enter, gone afterwards: sockets, keys, the link."""
    long = len(tempfile.gettempdir()) > MAX_FOLDER_LENGTH - len("/qkv-12345678")
    with tempfile.TemporaryDirectory(prefix="qkv-", dir="/tmp" if long else None) as folder:
        yield folder


@contextmanager
def folder_beside(book: Path, private: str) -> Iterator[str]:
    """A private folder for the file that opens the browser, beside the book where that can be.

    A browser that came as a snap reads neither the system's temporary folder nor hidden ones.
    """
    remove_left_folders(book.parent)
    with ExitStack() as stack:
        try:
            folder = tempfile.TemporaryDirectory(prefix="opening-", dir=book.parent)
            path = stack.enter_context(folder)
            stack.enter_context(file_lock(Path(path, "lock")))
        except OSError:  # nothing can be written there, or another start took it for a left one
            path = private
        yield path


def remove_left_folders(parent: Path) -> None:
    """Remove the folders that `folder_beside` of a killed server left: nobody holds their lock."""
    for folder in parent.glob("opening-*"):
        with suppress(OSError):  # one is in use, or not ours
            names = {entry.name for entry in folder.iterdir()}
            if folder.is_symlink() or "lock" not in names or names - {"open.html", "lock"}:
                continue
            with file_lock(folder / "lock"):
                Path(folder, "open.html").unlink(missing_ok=True)
            folder.rmdir()
