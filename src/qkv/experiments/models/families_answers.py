"""What the models of `models.families` answer: gaps, sentences, translations.

A guess for a gap is right if the finished sentence is one of the 905 of the corpus.
"""

from __future__ import annotations

import numpy as np

import qkv.numpy as qn
from qkv.experiments.models.families import (
    COLON,
    EOS,
    FILL,
    KOREAN,
    MASK,
    SOS,
    Array,
    corpus,
    split,
)

__all__ = [
    "PLACES",
    "draw",
    "fill_at_once",
    "fill_one_by_one",
    "filled",
    "filled_by_sentence",
    "is_held_out",
    "is_known",
    "translated",
    "verbs_under_causal_mask",
    "verbs_unmasked",
    "without_a_mask",
    "write",
]

PLACES = {"subject": 1, "verb": 2, "object": 4}  # of the words that can be left out
VERB = PLACES["verb"]


def is_known(rows: Array) -> Array:
    """Whether each row (n, 5) is one of the 905 sentences."""
    known = {tuple(row) for row in corpus()[1].tolist()}
    return np.array([tuple(row) in known for row in rows.tolist()])


def filled(model: qn.DecoderOnly, kind: str, english: Array, place: int = VERB) -> float:
    """The share of sentences (n, 5) whose word at `place`, left out, is guessed so that it fits."""
    holed = np.where(np.arange(5) == place, MASK, english)
    if kind not in ("t5", "infill", "prefix_infill"):
        ids = np.insert(holed, 0, SOS, axis=1)
        mask = qn.causal_mask(6) if kind == "gpt" else None
        logits = model(ids, mask=mask)[:, place if kind == "gpt" else place + 1]
    else:
        n = len(english)
        ids = np.column_stack([np.full(n, FILL), holed, np.full(n, COLON)])
        logits = model(ids, mask=qn.causal_mask(7) if kind == "infill" else None)[:, -1]
    return _fit(english, logits.argmax(axis=1), place)


def filled_by_sentence(model: qn.DecoderOnly, english: Array, place: int = VERB) -> float:
    """As `filled`, for a GPT that reads the whole sentence with each possible word in turn.

    The guess is the word of the most probable sentence: the words to its right count.
    """
    words = np.unique(corpus()[1][:, place])
    scores = []
    for word in words:
        whole = np.where(np.arange(5) == place, word, english)
        ids, answers = np.insert(whole, 0, SOS, axis=1), np.insert(whole, 5, EOS, axis=1)
        p = qn.softmax(model(ids, mask=qn.causal_mask(6)).astype(float))
        right = np.take_along_axis(p, answers[:, :, None], axis=2)  # (n, 6, 1)
        scores.append(np.log(right).sum(axis=(1, 2)))
    return _fit(english, words[np.argmax(scores, axis=0)], place)


def without_a_mask(model: qn.DecoderOnly, english: Array) -> tuple[Array, Array]:
    """The loss of each row of a GPT (6,), with its own mask and with none."""
    ids, answers = np.insert(english, 0, SOS, axis=1), np.insert(english, 5, EOS, axis=1)
    own, none = (
        qn.cross_entropy(model(ids, mask=mask), answers, reduction="none").mean(axis=0)
        for mask in (qn.causal_mask(6), None)
    )
    return own, none


def verbs_under_causal_mask(model: qn.DecoderOnly, english: Array) -> float:
    """As `filled`, for the verbs and a BERT that is given GPT's mask."""
    ids = np.insert(np.where(np.arange(5) == VERB, MASK, english), 0, SOS, axis=1)
    return _fit(english, model(ids, mask=qn.causal_mask(6))[:, VERB + 1].argmax(axis=1), VERB)


def verbs_unmasked(model: qn.DecoderOnly, english: Array) -> tuple[float, float]:
    """A BERT's guess in the row of a verb that it reads: how often it fits, and is that verb."""
    guess = model(np.insert(english, 0, SOS, axis=1))[:, VERB + 1].argmax(axis=1)
    return _fit(english, guess, VERB), float((guess == english[:, VERB]).mean())


def is_held_out(rows: Array) -> Array:
    """Whether each row (n, 5) is one of the 90 sentences that were held out."""
    known = {tuple(row) for row in corpus()[1][split()[1]].tolist()}
    return np.array([tuple(row) in known for row in rows.tolist()])


def _fit(english: Array, words: Array, place: int) -> float:
    """The share of sentences (n, 5) that are among the 905 with these words (n,) at `place`."""
    return float(is_known(np.where(np.arange(5) == place, words[:, None], english)).mean())


def draw(logits: Array, rng: np.random.Generator) -> Array:
    """A token drawn from each row (..., V) of logits."""
    total = qn.softmax(logits.astype(float)).cumsum(axis=-1)
    chosen: Array = (total > rng.random((*total.shape[:-1], 1)) * total[..., -1:]).argmax(axis=-1)
    return chosen


def write(model: qn.DecoderOnly, n: int, rng: np.random.Generator) -> Array:
    """n sentences (n, 5) that a GPT writes, each token drawn from its probabilities."""
    ids = np.full((n, 1), SOS)
    for T in range(1, 6):
        logits = model(ids, mask=qn.causal_mask(T))[:, -1]
        ids = np.column_stack([ids, draw(logits, rng)])
    return ids[:, 1:]


def fill_at_once(model: qn.DecoderOnly, n: int, rng: np.random.Generator) -> Array:
    """n sentences (n, 5) from five gaps, each filled without regard to the others."""
    empty = np.insert(np.full((n, 5), MASK), 0, SOS, axis=1)
    return draw(model(empty)[:, 1:], rng)


def fill_one_by_one(model: qn.DecoderOnly, n: int, rng: np.random.Generator) -> Array:
    """n sentences (n, 5) from five gaps: one is filled, in any order, and the text read again."""
    ids = np.insert(np.full((n, 5), MASK), 0, SOS, axis=1)
    row = np.arange(n)
    for place in rng.random((n, 5)).argsort(axis=1).T + 1:
        ids[row, place] = draw(model(ids)[row, place], rng)
    return ids[:, 1:]


def translated(model: qn.DecoderOnly, english: Array, korean: Array, causal: bool = False) -> float:
    """The share of sentences (n, 5) that a T5 translates without an error; or under GPT's mask."""
    n = len(english)
    ids = np.column_stack([np.full(n, KOREAN), english, np.full(n, COLON)])
    for T in (7, 8, 9):
        mask = qn.causal_mask(T) if causal else qn.prefix_mask(np.full(n, 7), T)
        logits = model(ids, mask=mask)[:, -1]
        ids = np.column_stack([ids, logits.argmax(axis=1)])
    return float((ids[:, 7:] == korean).all(axis=1).mean())
