"""A reader's changes in the cells of one book, kept in a file of that reader's alone.

The server keeps them and not the browser: to a browser each run is another site, as its name is
drawn anew, and of a hub's site the book is one page among others. A reader's progress is kept with
them, as a page named "progress" with a cell for each mark (book/progress/stores.js).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qkv.files import atomic_write, file_lock
from qkv.live.data_folder import data_folder

MAX_BYTES = 4 * 2**20  # of all pages; the code of the book's own cells has a tenth of that


class Edits:
    """The changed cells of a book: of each page, the book's text of a cell and the reader's.

    A cell is known by its page and the book's text: when the book changes, an answer does not land
    under another question. The file is read anew each time, since another server of the same reader
    may show the same book.
    """

    def __init__(self, book: Path) -> None:
        self.book = book

    def of_page(self, page: str) -> dict[str, str]:
        """The reader's text of each changed cell of a page, by the book's text of it.

        Raises:
            ValueError: the file holds something else.
            OSError: it cannot be read.
        """
        try:
            folder = data_folder(self.book)
        except OSError:  # where there can be no folder, nothing was kept
            return {}
        return self._read(folder / "edits.json").get(page, {})

    def merge(self, page: str, changes: Mapping[str, str | None]) -> None:
        """Keep changes of a page's cells; None takes one back.

        Raises:
            ValueError: it would be more than is kept, or the file holds something else; in both
                cases it stays as it was.
            BlockingIOError: another process is at it.
            OSError: it cannot be written.
        """
        folder = data_folder(self.book)
        file = folder / "edits.json"
        with file_lock(folder / "edits.lock"):
            pages = self._read(file)
            merged = {**pages.get(page, {}), **changes}
            pages[page] = {cell: text for cell, text in merged.items() if text is not None}
            kept = {"book": str(self.book), "pages": {k: v for k, v in pages.items() if v}}
            data = json.dumps(kept, indent=1).encode()
            if len(data) > MAX_BYTES and any(text is not None for text in changes.values()):
                raise ValueError(
                    f"the changes in all cells of the book are more than {MAX_BYTES:,} bytes: "
                    "reset some cells"
                )
            atomic_write(file, data, mode=0o600)

    def _read(self, file: Path) -> dict[str, dict[str, str]]:
        try:
            pages = json.loads(file.read_bytes())["pages"]
        except FileNotFoundError:
            return {}
        except (ValueError, LookupError, TypeError, RecursionError):
            pages = None
        if not (isinstance(pages, dict) and all(map(is_changes, pages.values()))):
            raise ValueError(f"{file} does not hold changes in cells: move it away")
        return pages


def is_changes(value: Any) -> bool:
    """Whether this is an object of JSON whose values are texts or null."""
    return isinstance(value, dict) and all(v is None or isinstance(v, str) for v in value.values())
