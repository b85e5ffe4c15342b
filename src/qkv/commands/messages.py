"""Messages of the commands: counts with their nouns, errors, text made safe for a terminal."""

from __future__ import annotations

import re

__all__ = ["counted", "escaped", "os_error_message"]

# Control characters but the tab, and those that turn the order of letters around.
UNSAFE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def counted(n: int, noun: str) -> str:
    """A count with its noun: 1 pair, 2 pairs; 1 process, 2 processes."""
    ending = "" if n == 1 else "es" if noun.endswith("s") else "s"
    return f"{n:,} {noun}{ending}"


def os_error_message(error: OSError) -> str:
    """The message of an OSError: the file and what is wrong with it, without the error number."""
    name = f"{error.filename}: " if error.filename else ""
    return f"{name}{error.strerror or error}"


def escaped(text: str) -> str:
    """Escape control characters: text from elsewhere moves no cursor, and begins no line."""
    return UNSAFE.sub(lambda match: _escape(ord(match[0])), text)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
