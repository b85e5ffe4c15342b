"""Train–held-out splits: at random, and by combinations of words that training never shows."""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import TypeVar

from qkv.corpus.clause import Pair
from qkv.shapes import check_range

__all__ = ["combinations", "split_by_combination", "split_random"]

X = TypeVar("X")
HINT = "it is the part of the pairs that is held back"


def combinations(pair: Pair) -> list[tuple[str, str, str]]:
    """(noun, verb, tense) for each noun of a pair: its subject, its object, its place.

    Of "because it was tired", where *it* is the dog, ("dog", "tired", "because") comes last.
    """
    features = pair.features
    nouns = (features.subject, features.object, features.place)
    found = [(noun, features.verb, features.tense) for noun in nouns if noun is not None]
    if features.reason is not None and features.reason_of is not None:
        found.append((getattr(features, features.reason_of), features.reason, "because"))
    return found


def split_random(pairs: Sequence[Pair], share: float, rng: Random) -> tuple[list[Pair], list[Pair]]:
    """Random split: nearly the same sentence may stand in training.

    Args:
        share: of the pairs, in [0, 1); their number is rounded.
    Returns:
        The pairs for training and those held back, both in the order in which they came.
    Raises:
        ValueError: share is no number in [0, 1).
    """
    check_range("split_random", "a number in [0, 1)", hint=HINT, share=share)
    held_out = set(_shuffled(range(len(pairs)), rng)[: round(share * len(pairs))])
    return _split(pairs, held_out)


def split_by_combination(
    pairs: Sequence[Pair], share: float, rng: Random
) -> tuple[list[Pair], list[Pair]]:
    """Compositional split: each held-out pair has a combination new to the model.

    That is a noun × verb × tense, or the noun and the adjective of a reason.

    No combination that was drawn is left in training, while every English and every Korean word of
    the pairs, and so each noun, verb and tense, still occurs there. Of `sentences()`, which have
    3,325 combinations, share 0.1 and Random(0) leave 30,930 pairs and hold back 3,437.

    Args:
        share: of the pairs, in [0, 1). At least so many are held back, and at most as many more as
            stand with the last combination drawn.
    Returns:
        The pairs for training and those held back, both in the order in which they came.
    Raises:
        ValueError: share is no number in [0, 1), or so many cannot be held back without taking some
            word from training.
    """
    check_range("split_by_combination", "a number in [0, 1)", hint=HINT, share=share)
    pairs_with: dict[tuple[str, str, str], list[int]] = {}
    words = [Counter((*pair.source, *pair.target)) for pair in pairs]
    in_training: Counter[str] = Counter()
    for i, pair in enumerate(pairs):
        in_training.update(words[i])
        for combination in combinations(pair):
            pairs_with.setdefault(combination, []).append(i)

    held_out: set[int] = set()
    for combination in _shuffled(list(pairs_with), rng):
        if len(held_out) >= share * len(pairs):
            break
        new = [i for i in pairs_with[combination] if i not in held_out]
        removed: Counter[str] = Counter()
        for i in new:
            removed.update(words[i])
        if all(in_training[word] > count for word, count in removed.items()):
            held_out.update(new)
            in_training.subtract(removed)
    if len(held_out) < share * len(pairs):
        raise ValueError(
            f"split_by_combination: share = {share} of {len(pairs)} pairs cannot be held back: "
            f"after {len(held_out)}, any other combination would take a word from training"
        )
    return _split(pairs, held_out)


def _split(pairs: Sequence[Pair], held_out: set[int]) -> tuple[list[Pair], list[Pair]]:
    training = [pair for i, pair in enumerate(pairs) if i not in held_out]
    return training, [pair for i, pair in enumerate(pairs) if i in held_out]


def _shuffled(items: Sequence[X], rng: Random) -> list[X]:
    """Shuffle by `random()`, the one method that draws the same in every version of Python."""
    return sorted(items, key=lambda _: rng.random())
