"""The options that a run has stored, held to what could have been typed."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, NoReturn

from qkv.commands.train.arguments import FREE, check, parser

__all__ = ["check_stored"]


class _StrictParser(argparse.ArgumentParser):
    """Refuses by an error instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def check_stored(own: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a run, by name, where they are what could have been typed.

    Raises:
        ValueError: one is missing, unknown, or no value of its kind.
    """
    made = parser(_StrictParser)
    known = set(vars(made.parse_args([]))) - FREE
    if set(own) != known:
        names = ", ".join(sorted(map(str, set(own) ^ known)))
        raise ValueError(f"its options are not those of this version: {names}")
    words: list[str] = []
    for name, value in own.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, list):
            words += [flag, *map(str, value)]
        elif value is True:
            words.append(flag)
        elif value is not None and value is not False:
            words.append(f"{flag}={value}")
    options = made.parse_args(words)
    for name, value in own.items():
        if getattr(options, name) != value:
            raise ValueError(f"its {name} is {value!r}")
    check(options)
    return dict(own)
