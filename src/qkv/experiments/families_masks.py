"""One corpus, one body, five ways to ask: what a small GPT, BERT and T5 answer.

The corpus is 905 sentences of the grammar such as *the cat drinks the milk*, of which 90 are held
out. A guess for the verb is right if the finished sentence is one of the 905.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np

import qkv.numpy as qn
from qkv.config import TransformerConfig
from qkv.corpus import sentences
from qkv.experiments.stored import run_and_store

__all__ = [
    "ASKS",
    "any_gaps",
    "bert",
    "body",
    "check",
    "corpus",
    "draw",
    "fill_at_once",
    "fill_one_by_one",
    "gpt",
    "infill",
    "is_known",
    "measure",
    "split",
    "t5",
    "train",
    "translated",
    "verbs_filled",
    "write",
]

Array: TypeAlias = "np.ndarray[Any, Any]"
# English (n, 5), Korean (n, 3) -> what is read, the answers, both (n, T), and the mask.
Ask: TypeAlias = Callable[[Array, Array, np.random.Generator], tuple[Array, Array, Array]]
Figures = dict[str, Any]

MARKS = ("<pad>", "<sos>", "<eos>", "[MASK]", "fill", "korean", ":")
PAD, SOS, EOS, MASK, FILL, KOREAN, COLON = range(len(MARKS))
VERB = 2  # its place in a sentence


@cache
def corpus() -> tuple[tuple[str, ...], Array, Array]:
    """The vocabulary, and the sentences as ids: English (905, 5), Korean (905, 3)."""
    pairs = [
        ([word.lower() for word in pair.source], list(pair.target))
        for pair in sentences()
        if (len(pair.source), len(pair.target), pair.features.tense) == (5, 3, "present")
        and pair.features.object
        and not (pair.features.negated or pair.features.adjective)
    ]
    tokens = (*MARKS, *sorted({word for pair in pairs for side in pair for word in side}))
    number = {token: i for i, token in enumerate(tokens)}
    english, korean = (np.array([[number[w] for w in p[i]] for p in pairs]) for i in (0, 1))
    return tokens, english, korean


def split() -> tuple[Array, Array]:
    """Which sentences are learnt from (815,), and which are held out (90,)."""
    order = np.random.default_rng(0).permutation(len(corpus()[1]))
    return order[90:], order[:90]


def body(seed: int, causal: bool = False) -> qn.DecoderOnly:
    """Two layers of width 32; without `causal`, it takes any mask that it is given."""
    config = TransformerConfig(
        len(corpus()[0]),
        d_model=32,
        n_heads=2,
        d_ff=64,
        n_layers=2,
        dropout=0.0,
        positions="learned",
        max_len=12,
        norm_placement="pre",
        tie="none",
        causal=causal,
    )
    return qn.DecoderOnly(config, rng=np.random.default_rng(seed))


def train(ask: Ask, seed: int = 0, steps: int = 400) -> tuple[qn.DecoderOnly, list[float]]:
    """Train a body by one way to ask; the model and its losses."""
    model, rng = body(seed).train(), np.random.default_rng(seed)
    _, english, korean = corpus()
    training, _ = split()
    optimizer, losses = qn.Adam(model, lr=0.01), []
    for step in range(steps):
        chosen = rng.choice(training, 64)
        ids, answers, mask = ask(english[chosen], korean[chosen], rng)
        model.zero_grad()
        logits = model(ids, mask=mask)  # (B, T, V)
        losses.append(float(qn.cross_entropy(logits, answers, ignore_index=PAD)))
        one = np.float32(1)
        model.backward(qn.cross_entropy_backward(one, logits, answers, ignore_index=PAD))
        rise, fall = (step + 1) / 30, 1.5 * (steps - step) / steps
        optimizer.step(0.01 * min(rise, 1, fall))
    return model.eval(), losses


def gpt(english: Array, korean: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Every row predicts the next token."""
    ids = np.insert(english, 0, SOS, axis=1)  # (n, 6)
    return ids, np.insert(english, 5, EOS, axis=1), qn.causal_mask(6)


def bert(english: Array, korean: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """One word of each sentence is masked."""
    gaps = np.zeros(english.shape, dtype=bool)
    gaps[np.arange(len(english)), rng.integers(1, 6, len(english)) - 1] = True
    return _masked(english, gaps)


def any_gaps(english: Array, korean: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Any number of words is masked, from one to all five."""
    n = len(english)
    ranks = rng.random((n, 5)).argsort(axis=1)
    return _masked(english, ranks < rng.integers(1, 6, n)[:, None])


def t5(english: Array, korean: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Two tasks as text, to fill a gap and to translate; the seven given tokens see each other."""
    ids, answers = _as_text(english, korean, rng, 0.6)
    return ids, answers, qn.prefix_mask(np.full(len(ids), 7), 10)


def infill(english: Array, korean: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """A causal mask, and a text in which the gap's word stands after both of its sides."""
    ids, answers = _as_text(english, korean, rng, 1.0)
    return ids, answers, qn.causal_mask(10)


ASKS: dict[str, Ask] = {"gpt": gpt, "bert": bert, "t5": t5, "infill": infill, "any_gaps": any_gaps}


def _masked(english: Array, gaps: Array) -> tuple[Array, Array, Array]:
    ids, answers = np.where(gaps, MASK, english), np.where(gaps, english, PAD)
    ids, answers = np.insert(ids, 0, SOS, axis=1), np.insert(answers, 0, PAD, axis=1)
    return ids, answers, np.ones((6, 6), dtype=bool)


def _as_text(
    english: Array, korean: Array, rng: np.random.Generator, filled: float
) -> tuple[Array, Array]:
    n = len(english)
    source = np.column_stack([np.full(n, KOREAN), english, np.full(n, COLON)])  # (n, 7)
    target = np.insert(korean, 3, EOS, axis=1)  # (n, 4)
    for i in np.flatnonzero(rng.random(n) < filled):
        gap = rng.choice([2, 3, 5])  # subject, verb or object
        target[i] = source[i, gap], EOS, PAD, PAD
        source[i, 0], source[i, gap] = FILL, MASK
    both = np.concatenate([source, target], axis=1)  # (n, 11)
    ids, answers = both[:, :-1], both[:, 1:].copy()
    answers[:, :6] = PAD
    return ids, answers


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
