"""Helpers of the exercises on embeddings: reading merges, and a word with its probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qkv.exercises.checks import WrongAnswer, as_number, reject

Pair = tuple[str, str]


def as_merges(answer: object) -> tuple[Pair, Pair]:
    """Two pairs of pieces, such as [("a", "l"), ("al", "l")], or `WrongAnswer`."""
    pairs = [_as_pair(part) for part in answer] if isinstance(answer, list | tuple) else []
    reject(
        len(pairs) != 2,
        "Two merges were asked for.",
        'Write a list of two pairs, such as [("a", "l"), ("al", "l")].',
    )
    return pairs[0], pairs[1]


def _as_pair(part: object) -> Pair:
    pieces = part.replace("+", " ").split() if isinstance(part, str) else part
    if not isinstance(pieces, list | tuple) or len(pieces) != 2:
        raise WrongAnswer("A merge joins two pieces.", 'Write each as a pair, such as ("a", "l").')
    return str(pieces[0]).strip(), str(pieces[1]).strip()


def as_word_and_probability(answer: Any, vocabulary: Sequence[str]) -> tuple[str, float]:
    """A word of the vocabulary and one number, or `WrongAnswer`."""
    reject(
        not isinstance(answer, list | tuple) or len(answer) != 2,
        "Your function has to return two things.",
        "End it with: return word, probability.",
    )
    word, probability = answer
    reject(
        str(word) not in vocabulary,
        f"{word!r} is no word of the vocabulary.",
        "First the word itself, not its id; then the probability.",
    )
    return str(word), as_number(probability)
