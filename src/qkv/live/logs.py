"""The server's log, as a terminal may show it: what strangers send is cut, escaped, said seldom."""

from __future__ import annotations

import logging
from copy import copy
from types import TracebackType

from tornado.log import LogFormatter

MAX_LENGTH = 500  # characters of a message, and of each line of a traceback
SECONDS = 60.0


def printable(text: str) -> str:
    """The text's first characters, with escapes for those that would steer a terminal."""
    cut = f"{text[:MAX_LENGTH]} ..." if len(text) > MAX_LENGTH else text
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in cut
    )


class PrintableFormatter(LogFormatter):
    """Formatter of tornado's form, whose records hold no control characters and no endless text."""

    def format(self, record: logging.LogRecord) -> str:
        shown = copy(record)
        shown.msg, shown.args = printable(record.getMessage()), None
        shown.exc_text = None  # of another formatter
        return super().format(shown)

    def formatException(
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        return "\n".join(map(printable, super().formatException(ei).split("\n")))


class OnceAMinute(logging.Filter):
    """Filter that lets each kind of record through once a minute, with how often it was held back.

    A kind is a line of code, a level and a type of exception: whoever may ask this server for
    something can make it say the same as often as he likes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[tuple[object, ...], float] = {}
        self.held: dict[tuple[object, ...], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[0] if record.exc_info else None
        kind = (record.pathname, record.lineno, record.levelno, error)
        if kind in self.said and 0 <= record.created - self.said[kind] < SECONDS:
            self.held[kind] = self.held.get(kind, 0) + 1
            return False
        self.said[kind] = record.created
        if held := self.held.pop(kind, 0):
            record.msg, record.args = f"({held} more like it before) {record.getMessage()}", None
        return True
