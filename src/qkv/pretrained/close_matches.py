"""The known word that is spelt most like an unknown one, if it is spelt nearly so."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["closest_match"]

CUTOFF = 0.6  # of the letters that two words have in common, twice counted, by all of theirs
MOST_TRIED = 20  # words, from the most alike on


def closest_match(word: str, known: Iterable[str]) -> str | None:
    """The most alike of the known words from which at most a third of the letters is changed."""
    for near in get_close_matches(word, sorted(known), MOST_TRIED, CUTOFF):
        if edit_distance(near, word) <= len(word) // 3:
            return near
    return None


def edit_distance(one: str, other: str) -> int:
    """How many letters are put in, taken out, replaced, or swapped with the next.

    Source: optimal string alignment, after Damerau 1964 and Wagner & Fischer 1974.
    """
    earlier: list[int] = []
    before: list[int] = []
    row = list(range(len(other) + 1))  # from the first i letters of one to the first j of the other
    for i in range(1, len(one) + 1):
        earlier, before, row = before, row, [i]
        for j in range(1, len(other) + 1):
            replaced = before[j - 1] + (one[i - 1] != other[j - 1])
            edits = min(replaced, before[j] + 1, row[j - 1] + 1)
            if i > 1 and j > 1 and one[i - 2 : i] == other[j - 1] + other[j - 2]:
                edits = min(edits, earlier[j - 2] + 1)
            row.append(edits)
    return row[-1]
