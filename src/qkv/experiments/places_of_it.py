"""Places in a sentence with *it*: rows of words, and the keys at which they look."""

from __future__ import annotations

from collections.abc import Callable

from qkv.corpus import Pair
from qkv.corpus.reasons import PEOPLE

GROUPS = ("subject", "other, subject an animal", "other, subject a person")
Place = Callable[[Pair], tuple[int, int]]  # a row, and the key that is blocked or gets all weight
Places = tuple[list[int], list[int]]  # rows, and keys, among which the largest weight is blocked


def group_of(pair: Pair) -> str:
    """Which of GROUPS."""
    if pair.features.reason_of == "subject":
        return GROUPS[0]
    return GROUPS[2] if pair.features.subject in PEOPLE else GROUPS[1]


def of_it(layer: int) -> Place:
    """*it*, and what it looks at: the last word in layer 0, the noun that is meant in 1."""
    return lambda pair: (place_of(pair, "it"), meant(pair) if layer else len(pair.source) - 1)


def of_noun(pair: Pair) -> tuple[int, int]:
    """The noun that is meant, looking at itself."""
    return meant(pair), meant(pair)


def beside(place: Place) -> Callable[[Pair], Places]:
    """The same row, and all keys but one."""
    return lambda pair: ([place(pair)[0]], _without(pair, place(pair)[1]))


def between_others(pair: Pair) -> Places:
    """Rows and keys of all words but *it* and its two nouns."""
    left_out = ("it", noun_of(pair, "subject"), noun_of(pair, "other"))
    words = _without(pair, len(pair.source), *(place_of(pair, word) for word in left_out))
    return words, words


def _without(pair: Pair, *left_out: int) -> list[int]:
    """The places of a sentence, with that of <eos>."""
    return [n for n in range(len(pair.source) + 1) if n not in left_out]


def meant(pair: Pair) -> int:
    return place_of(pair, getattr(pair.features, str(pair.features.reason_of)))


def noun_of(pair: Pair, role: str) -> str:
    features = pair.features
    return str(features.subject if role == "subject" else features.object or features.place)


def place_of(pair: Pair, word: str) -> int:
    return [one.lower() for one in pair.source].index(word.lower())
