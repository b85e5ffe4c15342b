"""Command-line arguments: their parser, and numbers, each in its range."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import NoReturn

from qkv.commands.messages import escaped

__all__ = ["ArgumentParser", "number"]


class ArgumentParser(argparse.ArgumentParser):
    """argparse's own, whose errors quote what was typed with control characters escaped."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, and end the program with status 2."""
        super().error(escaped(message))


def number(
    convert: Callable[[str], float], is_valid: Callable[[float], bool], message: str
) -> Callable[[str], float]:
    """A type for argparse: a finite number that is valid.

    Args:
        convert: int or float.
        message: what the error says of a text that is none, such as "no count: give …".
    """

    def parse(text: str) -> float:
        try:
            value = convert(text)
            valid = math.isfinite(value) and is_valid(value)
        except (ValueError, OverflowError):  # no number; a whole one of 400 digits
            valid = False
        if not valid:
            raise argparse.ArgumentTypeError(f"{text} is {message}")
        return value

    return parse
