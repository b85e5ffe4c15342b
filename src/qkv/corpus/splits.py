"""Two ways to hold pairs back: at random, and by combinations that training never shows."""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import TypeVar

from qkv.corpus.clause import Pair
from qkv.shapes import check_share

__all__ = ["combinations", "split_by_combination", "split_random"]

X = TypeVar("X")
MEND = "it is the part of the pairs that is held back"


def combinations(pair: Pair) -> list[tuple[str, str, str]]:
    """(noun, verb, tense) for each noun of a pair: its subject, its object, its place."""
    made = pair.features
    nouns = (made.subject, made.object, made.place)
    return [(noun, made.verb, made.tense) for noun in nouns if noun is not None]


def split_random(pairs: Sequence[Pair], share: float, rng: Random) -> tuple[list[Pair], list[Pair]]:
    """Hold back any pairs: nearly the same sentence may stand in training.

    Args:
        share: of the pairs, in [0, 1); their number is rounded.
    Returns:
        The pairs for training and those held back, both in the order in which they came.
    Raises:
        ValueError: share is no number in [0, 1).
    """
    check_share("split_random", "share", share, MEND)
    held = set(_shuffled(range(len(pairs)), rng)[: round(share * len(pairs))])
    return _parted(pairs, held)


def split_by_combination(
    pairs: Sequence[Pair], share: float, rng: Random
) -> tuple[list[Pair], list[Pair]]:
    """Hold back noun × verb × tense: each pair held back has a combination new to the model.

    No combination that was drawn is left in training, while every English and every Korean word of
    the pairs, and so each noun, verb and tense, still occurs there. Of `sentences()`, which have
    2,907 combinations, share 0.1 and Random(0) leave 24,695 pairs and hold back 2,773.

    Args:
        share: of the pairs, in [0, 1). At least so many are held back, and at most as many more as
            stand with the last combination drawn.
    Returns:
        The pairs for training and those held back, both in the order in which they came.
    Raises:
        ValueError: share is no number in [0, 1), or so many cannot be held back without taking some
            word from training.
    """
    check_share("split_by_combination", "share", share, MEND)
    where: dict[tuple[str, str, str], list[int]] = {}
    words = [Counter((*pair.source, *pair.target)) for pair in pairs]
    left: Counter[str] = Counter()
    for i, pair in enumerate(pairs):
        left.update(words[i])
        for combination in combinations(pair):
            where.setdefault(combination, []).append(i)

    held: set[int] = set()
    for combination in _shuffled(list(where), rng):
        if len(held) >= share * len(pairs):
            break
        new = [i for i in where[combination] if i not in held]
        taken: Counter[str] = Counter()
        for i in new:
            taken.update(words[i])
        if all(left[word] > count for word, count in taken.items()):
            held.update(new)
            left.subtract(taken)
    if len(held) < share * len(pairs):
        raise ValueError(
            f"split_by_combination: share = {share} of {len(pairs)} pairs cannot be held back: "
            f"after {len(held)}, any other combination would take a word from training"
        )
    return _parted(pairs, held)


def _parted(pairs: Sequence[Pair], held: set[int]) -> tuple[list[Pair], list[Pair]]:
    training = [pair for i, pair in enumerate(pairs) if i not in held]
    return training, [pair for i, pair in enumerate(pairs) if i in held]


def _shuffled(items: Sequence[X], rng: Random) -> list[X]:
    """By `random()`, the one method that draws the same numbers in every version of Python."""
    return sorted(items, key=lambda _: rng.random())
