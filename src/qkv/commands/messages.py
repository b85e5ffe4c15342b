"""Messages of the commands: counts with their nouns, errors, escaped control characters."""

from __future__ import annotations

import re

__all__ = ["counted", "escaped", "os_error_message"]

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tab and line feed


def counted(n: int, noun: str) -> str:
    """A count with its noun: 1 pair, 2 pairs; 1 process, 2 processes."""
    ending = "" if n == 1 else "es" if noun.endswith("s") else "s"
    return f"{n:,} {noun}{ending}"


def os_error_message(error: OSError) -> str:
    """The message of an OSError: the file and what is wrong with it, without the error number."""
    name = f"{error.filename}: " if error.filename else ""
    return f"{name}{error.strerror or error}"


def escaped(text: str) -> str:
    """Escape control characters: text out of a file cannot move a terminal's cursor."""
    return CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
