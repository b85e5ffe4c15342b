"""Reasons: "because it was tired". Which noun *it* stands for follows from the adjective."""

from dataclasses import replace

from qkv.corpus.clause import Features
from qkv.corpus.nouns import ADJECTIVES, GROUPS, NOUNS

__all__ = ["PEOPLE", "REASONS", "reasons"]

# By verb: reasons to do it and reasons not to; of each, adjectives of the subject, then adjectives
# of the object or the place.
REASONS = {
    "eat": (("hungry", "delicious warm"), ("tired sick", "cold")),
    "drink": (("thirsty", "delicious warm"), ("tired sick", "cold")),
    "open": (("", "small"), ("", "heavy")),
    "close": (("", "small"), ("", "heavy")),
    "buy": (("", "delicious pretty red"), ("", "expensive heavy")),
    "sell": (("", "slow big"), ("", "fast pretty")),
    "like": (("", "delicious pretty warm clever fast wide"), ("", "slow dangerous")),
    "watch": (("", "pretty clever fast"), ("", "slow")),
    "chase": (("happy fast", "red"), ("tired sick slow", "")),
    "cross": (("hungry fast happy", ""), ("tired sick small slow", "wide narrow deep dangerous")),
    "draw": (("", "pretty white"), ("", "")),
    "hug": (("", "pretty small"), ("", "big")),
    "throw": (("", "small"), ("", "heavy big expensive")),
    "carry": (("big", "small"), ("tired sick slow small", "heavy big")),
    "sit": (("tired sick", "warm"), ("hungry", "cold")),
    "hide": (("small slow", "quiet"), ("big", "")),
    "sleep": (("tired sick", "warm quiet"), ("hungry thirsty", "cold narrow")),
    "live": (("", "quiet wide warm"), ("", "dangerous narrow")),
    "play": (("happy", "wide quiet warm"), ("tired sick", "dangerous narrow")),
    "run": (("fast happy", "wide"), ("tired sick slow", "dangerous")),
    "walk": (("happy", "wide quiet"), ("tired sick", "dangerous narrow")),
    "swim": (("fast happy", ""), ("tired sick small", "cold deep dangerous")),
    "rest": (("tired sick", "quiet"), ("hungry thirsty", "dangerous")),
    "go": (("hungry thirsty happy", "quiet wide"), ("tired sick slow", "dangerous")),
    "come": (("hungry thirsty", "warm"), ("tired sick slow", "")),
}
PEOPLE = {noun.english for group in ("people", "pronouns") for noun in GROUPS[group]}
AROUND = ("in", "on", "to")  # who is under a bridge is not there because the bridge is wide


def reasons(event: Features) -> list[Features]:
    """The same event with each reason that it may have.

    The adjective of a reason may describe one of the two nouns and not the other, so that a reader
    needs no more than the adjective to know which one *it* stands for. *It* stands for no person.
    """
    role, other = ("object", event.object) if event.object else ("place", event.place)
    if other is None or other in PEOPLE or event.verb not in REASONS:
        return []
    of_subject, of_other = REASONS[event.verb][event.negated]
    found = []
    for words, of, one, another in (
        (of_subject, "subject", event.subject, other),
        (of_other, role, other, event.subject),
    ):
        if one in PEOPLE or (of == "place" and event.preposition not in AROUND):
            continue
        fitting = [a for a in words.split() if one in FITTING[a] and another not in FITTING[a]]
        found += [replace(event, reason=adjective, reason_of=of) for adjective in fitting]
    return found


def _fitting(words: str) -> set[str]:
    return {noun for word in words.split() for noun in _names(word)}


def _names(word: str) -> list[str]:
    return [noun.english for noun in GROUPS.get(word) or (NOUNS[word],)]


FITTING = {adjective.english: _fitting(adjective.nouns) for adjective in ADJECTIVES}
