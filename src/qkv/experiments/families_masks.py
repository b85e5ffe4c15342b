"""What a small GPT, BERT and T5 answer, and two models more, each trained from five seeds.

A guess for the verb is right if the finished sentence is one of the 905 of the corpus.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.experiments.models.families import (
    ASKS,
    COLON,
    FILL,
    KOREAN,
    MASK,
    SOS,
    Array,
    corpus,
    split,
    train,
)
from qkv.experiments.stored import run_and_store

__all__ = [
    "check",
    "draw",
    "fill_at_once",
    "fill_one_by_one",
    "is_known",
    "measure",
    "translated",
    "verbs_filled",
    "write",
]

Figures = dict[str, Any]
VERB = 2  # its place in a sentence


def is_known(rows: Array) -> Array:
    """Whether each row (n, 5) is one of the 905 sentences."""
    known = {tuple(row) for row in corpus()[1].tolist()}
    return np.array([tuple(row) in known for row in rows.tolist()])


def verbs_filled(model: qn.DecoderOnly, kind: str, english: Array) -> float:
    """The share of sentences (n, 5) whose verb, left out, is guessed so that it fits."""
    holed = np.where(np.arange(5) == VERB, MASK, english)
    if kind in ("gpt", "bert", "any_gaps"):
        ids = np.insert(holed, 0, SOS, axis=1)
        mask = qn.causal_mask(6) if kind == "gpt" else None
        logits = model(ids, mask=mask)[:, VERB if kind == "gpt" else VERB + 1]
    else:
        n = len(english)
        ids = np.column_stack([np.full(n, FILL), holed, np.full(n, COLON)])
        logits = model(ids, mask=qn.causal_mask(7) if kind == "infill" else None)[:, -1]
    guess = logits.argmax(axis=1)[:, None]
    return float(is_known(np.where(np.arange(5) == VERB, guess, english)).mean())


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


def translated(model: qn.DecoderOnly, english: Array, korean: Array) -> float:
    """The share of sentences (n, 5) that a T5 translates without an error."""
    n = len(english)
    ids = np.column_stack([np.full(n, KOREAN), english, np.full(n, COLON)])
    for T in (7, 8, 9):
        logits = model(ids, mask=qn.prefix_mask(np.full(n, 7), T))[:, -1]
        ids = np.column_stack([ids, logits.argmax(axis=1)])
    return float((ids[:, 7:] == korean).all(axis=1).mean())


def measure(small: bool = False) -> Figures:
    """Shares of right answers, one number a seed: all 905 gaps, held-out ones, 1,000 sentences.

    The models of the core learn for `steps`, the two others for `longer`.
    """
    seeds, steps, longer, n = (1, 20, 20, 50) if small else (5, 400, 1200, 1000)
    _, english, korean = corpus()
    held_out = split()[1]
    found: Figures = {}
    for seed in range(seeds):
        models = {
            kind: train(ask, seed, steps if kind in ("gpt", "bert", "t5") else longer)[0]
            for kind, ask in ASKS.items()
        }
        rng = np.random.default_rng(seed)
        shares = {f"{kind} fills": verbs_filled(m, kind, english) for kind, m in models.items()}
        shares |= {
            f"{kind} fills, held out": verbs_filled(m, kind, english[held_out])
            for kind, m in models.items()
        }
        shares["gpt writes"] = float(is_known(write(models["gpt"], n, rng)).mean())
        for way in (fill_at_once, fill_one_by_one):
            shares[way.__name__] = float(is_known(way(models["any_gaps"], n, rng)).mean())
        shares["t5 translates"] = translated(models["t5"], english[held_out], korean[held_out])
        for name, share in shares.items():
            found.setdefault(name, []).append(round(share, 4))
    return {"seeds": seeds, "steps": steps, "longer": longer, "shares": found}


def check(figures: Figures) -> None:
    """What the chapter on families says of them; a run of few steps has learnt little."""
    shares = figures["shares"]
    assert max(shares["gpt fills"]) <= 337 / 905
    if figures["steps"] < 400:
        return
    for name in ("bert fills", "t5 fills", "t5 translates", "infill fills"):
        assert min(shares[name]) > 0.85, name
    assert min(shares["gpt writes"]) > 0.7
    assert max(shares["fill_at_once"]) < 0.25
    assert min(shares["fill_one_by_one"]) > 0.6


if __name__ == "__main__":
    run_and_store("families_masks", measure)
