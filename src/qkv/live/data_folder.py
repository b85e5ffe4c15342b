"""What is kept about one book for one user: the changes in its cells, and whether it is open."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path

import platformdirs

from qkv.files import atomic_write, file_lock


def data_folder(book: Path) -> Path:
    """A folder that only this user can enter, one for each folder of a built book.

    It lies outside of the book, so that it survives each build and `make clean`, and belongs to
    the reader, so that two of them may read the same book.
    """
    key = sha256(os.fsencode(book.resolve())).hexdigest()[:16]
    folder = platformdirs.user_data_path("qkv", appauthor=False) / "books" / key
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


class BookIsOpenError(Exception):
    """Another process of this user serves the same book.

    Attributes:
        link: the one that it printed.
    """

    def __init__(self, link: str) -> None:
        super().__init__(link)
        self.link = link


@contextmanager
def book_opened(book: Path) -> Iterator[Callable[[str], None]]:
    """Hold the book as open; gives what takes its link, for whoever opens it once more.

    The lock ends with its process however that ends, so a link that was left behind is never taken
    for one that works. Only this user can hold it: nobody else can pass off a link of his own.
    Where nothing can be written, nothing is held.

    Raises:
        BookIsOpenError: another process holds it.
    """
    with ExitStack() as stack:
        try:
            folder = data_folder(book)
            stack.enter_context(file_lock(folder / "open.lock"))
        except BlockingIOError:
            raise BookIsOpenError(link_in(data_folder(book))) from None
        except (OSError, ValueError):  # the lock is a link, which is not followed
            yield lambda link: None
            return
        kept = folder / "link"
        kept.unlink(missing_ok=True)  # left behind by a process that was killed
        stack.callback(kept.unlink, missing_ok=True)
        yield lambda link: atomic_write(kept, link.encode(), mode=0o600)


def link_in(folder: Path) -> str:
    """The link that is kept in a book's folder."""
    try:
        return (folder / "link").read_text(encoding="utf-8")
    except FileNotFoundError:  # it is being started, or ended
        return "see the terminal that serves it"
