"""What an exercise lets choose, and the verdicts on all of it as one table for a page.

A question of letters, signs or names has finitely many answers. The exercise declares them,

    @exercise("masks-3", Letters("ABCDE"))

so that a page can show buttons, and Python's own words when nobody runs Python. What a part or a
place is called is translated by the page; the keys, which are answers, stay as they are.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

VERDICTS_MIME = "application/vnd.qkv.verdicts+json"


class Part(Protocol):
    """An answer, or one part of it, that is chosen. A choice is known by its key, a text."""

    @property
    def label(self) -> str:
        """What is chosen, where the answer has several parts."""

    def every_key(self) -> Iterator[str]:
        """The keys of all choices."""

    def answer(self, key: str) -> object:
        """A choice as the reader would write it in a cell."""


@dataclass(frozen=True)
class Letters:
    """Any of some letters; the key holds those that are chosen, such as "AD"."""

    letters: str
    label: str = ""

    def every_key(self) -> Iterator[str]:
        each = (("", letter) for letter in self.letters)
        return map("".join, itertools.product(*each))

    def answer(self, key: str) -> str:
        return key


@dataclass(frozen=True)
class OneEach:
    """One of the same values at each place; the key names them with commas, such as "Y,N,Y".

    Args:
        places: what each place is called.
        written: the answer of the values that are chosen, in the order of the places.
    """

    places: Sequence[str]
    values: Sequence[str]
    written: Callable[[Sequence[str]], object] = "".join
    label: str = ""

    def every_key(self) -> Iterator[str]:
        return map(",".join, itertools.product(self.values, repeat=len(self.places)))

    def answer(self, key: str) -> object:
        return self.written(key.split(","))


@dataclass(frozen=True)
class Number:
    """A number from 0 to `highest` with some decimals; the key is the number, such as "0.50"."""

    highest: int
    decimals: int
    label: str = ""

    def every_key(self) -> Iterator[str]:
        steps = 10**self.decimals
        return (f"{n / steps:.{self.decimals}f}" for n in range(self.highest * steps + 1))

    def answer(self, key: str) -> float:
        return float(key)


def answer_of(parts: Sequence[Part], keys: Sequence[str]) -> object:
    """The answer of one choice in each part."""
    answers = tuple(part.answer(key) for part, key in zip(parts, keys, strict=True))
    return answers if len(answers) > 1 else answers[0]


def verdict_table(parts: Sequence[Part], judge: Callable[[object], Any]) -> dict[str, Any]:
    """The verdicts on all choices, each text once.

    Args:
        judge: the verdict on an answer, which has `state`, `text` and `hint`.
    Returns:
        `verdicts`, rows of these three; and for each of `parts` a dictionary. There `choices` says
        which of the verdicts a key has, and `others` which one all keys have that do not stand in
        it. With several parts they are the verdicts while the other parts are right.
    Raises:
        ValueError: no choice is right.
    """
    judged = {
        keys: judge(answer_of(parts, keys))
        for keys in itertools.product(*(part.every_key() for part in parts))
    }
    right = next((keys for keys, verdict in judged.items() if verdict.state == "right"), None)
    if right is None:
        declared = ", ".join(map(repr, parts))
        raise ValueError(
            f"verdict_table: no choice of {declared} is right: declare what can reach the answer."
        )
    verdicts: dict[tuple[str, str, str], int] = {}
    tables = []
    for place, part in enumerate(parts):
        said = {}
        for key in part.every_key():
            verdict = judged[(*right[:place], key, *right[place + 1 :])]
            row = (verdict.state, verdict.text, verdict.hint)
            said[key] = verdicts.setdefault(row, len(verdicts))
        ((others, _),) = Counter(said.values()).most_common(1)
        choices = {key: number for key, number in said.items() if number != others}
        tables.append({"others": others, "choices": choices})
    return {"verdicts": [list(row) for row in verdicts], "parts": tables}
