"""Helpers of the exercises on embeddings: reading merges, and words with their probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from qkv.exercises.checks import WrongAnswer, as_number, reject

Pair = tuple[str, str]
Array = np.ndarray[Any, Any]


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


def as_words_and_probabilities(
    answer: Any, vocabulary: Sequence[str], k: int
) -> tuple[list[str], Array]:
    """k words of the vocabulary and k numbers, from a list of pairs, or `WrongAnswer`."""
    pairs = list(answer.items()) if isinstance(answer, Mapping) else _as_list(answer)
    reject(
        len(pairs) != k,
        f"For k = {k} your function returns {len(pairs)} things.",
        "Return a list of k pairs: [(word, probability), …].",
    )
    reject(
        any(isinstance(pair, str) or np.size(np.array(pair, object)) != 2 for pair in pairs),
        "Each entry has to be a pair.",
        "First the word, then its probability.",
    )
    words = [str(word) for word, _ in pairs]
    unknown = [word for word in words if word not in vocabulary]
    reject(
        unknown,
        f"{unknown[:1]} is no word of the vocabulary.",
        "First the word itself, not its id; then the probability.",
    )
    return words, np.array([as_number(probability) for _, probability in pairs])


def _as_list(answer: Any) -> list[Any]:
    if isinstance(answer, str) or not hasattr(answer, "__iter__"):
        raise WrongAnswer(
            "Your function has to return a list.", "One pair for each of the k words."
        )
    return list(answer)
