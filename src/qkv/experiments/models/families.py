"""Training objectives of GPT, BERT, T5 and four variants, for one small model on one corpus.

The corpus is 905 sentences of the grammar such as *the cat drinks the milk*, of which 90 are held
out. Source of the objectives: Radford et al. 2018; Devlin et al. 2019; Raffel et al. 2020.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np

import qkv.numpy as qn
from qkv.config import TransformerConfig
from qkv.corpus import sentences

__all__ = [
    "COLON",
    "EOS",
    "FILL",
    "KOREAN",
    "MASK",
    "OBJECTIVES",
    "SOS",
    "Array",
    "any_gaps",
    "bert",
    "body",
    "corpus",
    "gpt",
    "infill",
    "mixed",
    "prefix_infill",
    "split",
    "t5",
    "train",
]

Array: TypeAlias = "np.ndarray[Any, Any]"
# English (n, 5), Korean (n, 3) -> what is read, the answers, both (n, T), and the mask.
Objective: TypeAlias = Callable[[Array, Array, np.random.Generator], tuple[Array, Array, Array]]

MARKS = ("<pad>", "<sos>", "<eos>", "[MASK]", "fill", "korean", ":")
PAD, SOS, EOS, MASK, FILL, KOREAN, COLON = range(len(MARKS))


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
        norm_first=True,
        tie_word_embeddings="none",
        causal=causal,
    )
    return qn.DecoderOnly(config, rng=np.random.default_rng(seed))


def train(
    objective: Objective, seed: int = 0, steps: int = 400
) -> tuple[qn.DecoderOnly, list[float]]:
    """Train a body by one objective; the model and its losses."""
    model, rng = body(seed).train(), np.random.default_rng(seed)
    _, english, korean = corpus()
    training, _ = split()
    optimizer, losses = qn.Adam(model, lr=0.01), []
    for step in range(steps):
        chosen = rng.choice(training, 64)
        ids, answers, mask = objective(english[chosen], korean[chosen], rng)
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


def mixed(english: Array, korean: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """As `bert`, but of the masked words 10 % become random words, and 10 % stay."""
    ids, answers, mask = bert(english, korean, rng)
    row, place = np.nonzero(answers)
    chance, any_word = rng.random(len(row)), rng.integers(len(MARKS), len(corpus()[0]), len(row))
    kept = np.where(chance < 0.9, any_word, answers[row, place])
    ids[row, place] = np.where(chance < 0.8, MASK, kept)
    return ids, answers, mask


def t5(english: Array, korean: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Two tasks as text, to fill a gap and to translate; the seven given tokens see each other."""
    ids, answers = _as_text(english, korean, rng, 0.6)
    return ids, answers, qn.prefix_mask(np.full(len(ids), 7), 10)


def infill(english: Array, korean: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """A causal mask, and a text in which the gap's word stands after both of its sides."""
    ids, answers = _as_text(english, korean, rng, 1.0)
    return ids, answers, qn.causal_mask(10)


def prefix_infill(
    english: Array, korean: Array, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """The same text as `infill`, under the mask of `t5`."""
    ids, answers, _ = infill(english, korean, rng)
    return ids, answers, qn.prefix_mask(np.full(len(ids), 7), 10)


OBJECTIVES: dict[str, Objective] = {
    "gpt": gpt,
    "bert": bert,
    "t5": t5,
    "infill": infill,
    "prefix_infill": prefix_infill,
    "any_gaps": any_gaps,
    "mixed": mixed,
}


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
