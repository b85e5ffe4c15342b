"""Numbers on the command line, each in its range."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

__all__ = ["number"]


def number(
    kind: Callable[[str], float], fits: Callable[[float], bool], what: str
) -> Callable[[str], float]:
    """A type for argparse: a finite number that fits.

    Args:
        kind: int or float.
        what: the message of a text that is none says that it is this: "no count: give …".
    """

    def read(text: str) -> float:
        try:
            value = kind(text)
            good = math.isfinite(value) and fits(value)
        except (ValueError, OverflowError):  # no number; a whole one of 400 digits
            good = False
        if not good:
            raise argparse.ArgumentTypeError(f"{text} is {what}")
        return value

    return read
