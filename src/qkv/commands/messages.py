"""How the commands speak of counts and of errors."""

from __future__ import annotations

import re

__all__ = ["counted", "escaped", "os_error_message"]

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tab and line feed


def counted(n: int, noun: str) -> str:
    """1 pair, 2 pairs; 1 process, 2 processes."""
    ending = "" if n == 1 else "es" if noun.endswith("s") else "s"
    return f"{n:,} {noun}{ending}"


def os_error_message(error: OSError) -> str:
    """The file and what is wrong with it, without the number that the system has for that."""
    name = f"{error.filename}: " if error.filename else ""
    return f"{name}{error.strerror or error}"


def escaped(words: str) -> str:
    """Words in which nothing that came out of a file can move a terminal's cursor or colours."""
    return CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", words)
