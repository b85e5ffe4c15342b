"""Generate every sentence pair of the grammar, in an order that never changes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from random import Random
from typing import TypeVar

from qkv.corpus.clause import TENSES, Features, Pair, render
from qkv.corpus.intransitive import INTRANSITIVE
from qkv.corpus.nouns import ADJECTIVES, GROUPS, NOUNS, Noun
from qkv.corpus.reasons import PEOPLE, reasons
from qkv.corpus.transitive import TRANSITIVE
from qkv.corpus.verb import Frame, Verb

__all__ = ["sentences"]

X = TypeVar("X")
Place = tuple[str, str]


def sentences() -> list[Pair]:
    """Generate all pairs of the grammar: 34,367, no sentence of either language twice.

    They have 225 English words ("The" and "the" are two) and 521 Korean ones; an English sentence
    has 2 to 12 words, a Korean one 2 to 8.

    Every subject stands with every verb that it makes sense with, and with every object or place of
    that verb; every noun with its adjectives after "be"; each in three tenses, with and without
    negation. Most events stand there once more with an adjective, or with a place beside the
    object: there are too many of these to list, so some are drawn, always the same.

    5,281 give a reason, as "because it was tired". Which noun *it* stands for follows from the
    adjective, which may describe one of the two nouns of the sentence and not the other.
    """
    rng = Random(0)
    adjectives = _adjectives()
    unique: dict[Features, None] = {}
    for event, places in _events():
        for tense, negated in product(TENSES, (False, True)):
            plain = replace(event, tense=tense, negated=negated)
            unique[plain] = None
            unique[_enriched(plain, places, adjectives, rng)] = None
            for reason in reasons(plain):  # of people's deeds a third: there *it* has no choice
                if plain.subject not in PEOPLE or rng.random() < 1 / 3:
                    unique[reason] = None
    return [render(features) for features in unique]


def _events() -> Iterator[tuple[Features, list[Place]]]:
    """Who does what, who is where, what is how; and where it may happen, if that is still open."""
    for verb, frame in _frames(TRANSITIVE):
        for subject, thing in product(_nouns(frame.subjects), _nouns(frame.objects)):
            if subject != thing:
                yield _event(subject, verb.english, object=thing.english), _places(frame)
    for verb, frame in _frames(INTRANSITIVE):
        for subject in _nouns(frame.subjects):
            if verb.alone:
                yield _event(subject, verb.english), []
            for preposition, place in _places(frame):
                yield _event(subject, verb.english, preposition=preposition, place=place), []
    for adjective in ADJECTIVES:
        for subject in _nouns(adjective.nouns):
            yield _event(subject, adjective.english), []


def _frames(verbs: Sequence[Verb]) -> Iterator[tuple[Verb, Frame]]:
    return ((verb, frame) for verb in verbs for frame in verb.frames)


def _event(subject: Noun, forms: str, **more: str) -> Features:
    return Features(subject.english, forms.split()[0], "present", False, **more)


def _enriched(
    plain: Features, places: Sequence[Place], adjectives: dict[str, list[str]], rng: Random
) -> Features:
    """The same event with an addition: half the time a place, if it has none; half an adjective."""
    features = plain
    if places and rng.random() < 0.5:
        preposition, place = _choose(places, rng)
        features = replace(features, preposition=preposition, place=place)
    nouns = {"subject": features.subject, "object": features.object, "place": features.place}
    described = [(a, role) for role, noun in nouns.items() for a in adjectives.get(noun or "", ())]
    is_event = all(features.verb != adjective.english for adjective in ADJECTIVES)
    if described and is_event and rng.random() < 0.5:
        adjective, role = _choose(described, rng)
        features = replace(features, adjective=adjective, describes=role)
    return features


def _adjectives() -> dict[str, list[str]]:
    """The adjectives that may stand before each noun; before a pronoun stands none."""
    by_noun: dict[str, list[str]] = {}
    for adjective in ADJECTIVES:
        for noun in _nouns(adjective.nouns):
            if not noun.pronoun:
                by_noun.setdefault(noun.english, []).append(adjective.english)
    return by_noun


def _choose(options: Sequence[X], rng: Random) -> X:
    """Choose by `random()`, the one method that draws the same in every version of Python."""
    return options[int(rng.random() * len(options))]


def _nouns(words: str) -> list[Noun]:
    """Nouns by name, groups of them by theirs."""
    return [noun for word in words.split() for noun in GROUPS.get(word) or (NOUNS[word],)]


def _places(frame: Frame) -> list[Place]:
    """Preposition and noun of each place."""
    return [(before, noun) for before, _, noun in (p.partition(":") for p in frame.places.split())]
