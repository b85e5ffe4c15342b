"""The prefix model under a causal mask, and a BERT that is asked at other words; five seeds each.

All gaps are the 905 of the corpus; a guess is right if the finished sentence is one of the 905.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qkv.experiments.models import families_answers as answers
from qkv.experiments.models.families import OBJECTIVES, PAD, Array, corpus, split, train
from qkv.experiments.stored_results import run_and_store

__all__ = ["ask_all", "ask_visible", "check", "measure"]

Figures = dict[str, Any]


def ask_all(english: Array, korean: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """What BERT reads, with one word masked; every word is an answer."""
    reads, _, mask = OBJECTIVES["bert"](english, korean, rng)
    return reads, np.insert(english, 0, PAD, axis=1), mask


def ask_visible(
    english: Array, korean: Array, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """The same, asked only where the word is read: no gap is asked."""
    reads, gaps, mask = OBJECTIVES["bert"](english, korean, rng)
    return reads, np.where(gaps == PAD, np.insert(english, 0, PAD, axis=1), PAD), mask


def measure(small: bool = False) -> Figures:
    """Shares of right answers, one number a seed.

    The prefix model after 400 steps, under the mask of its training and under a causal one: the
    gaps of each place and the 90 held-out translations. BERT's verbs after 150 and 400 steps, asked
    at the gap, at all words, or at the words that it reads alone.
    """
    seeds, budgets = (1, (5, 10)) if small else (5, (150, 400))
    _, english, korean = corpus()
    new = split()[1]
    found: Figures = {"seeds": seeds, "steps": list(budgets), "own": {}, "causal": {}, "asked": {}}

    def note(part: str, name: str, share: float) -> None:
        found[part].setdefault(name, []).append(round(float(share), 4))

    for seed in range(seeds):
        model, _ = train(OBJECTIVES["t5"], seed, budgets[1])
        for mask, kind in (("own", "t5"), ("causal", "infill")):  # the same text, two masks
            for gap, place in answers.PLACES.items():
                note(mask, gap, answers.filled(model, kind, english, place))
            causal = mask == "causal"
            translated = answers.translated(model, english[new], korean[new], causal=causal)
            note(mask, "translates", translated)
        ways = {"the gap": OBJECTIVES["bert"], "all words": ask_all, "visible words": ask_visible}
        for key, steps in zip(("few", "many"), budgets, strict=True):
            for name, ask in ways.items():
                bert, losses = train(ask, seed, steps)
                note("asked", f"{name}, {key}", answers.filled(bert, "bert", english))
                note("asked", f"{name}, {key}: loss", float(np.mean(losses[-50:])))
    return found


def check(figures: Figures) -> None:
    """What the chapter on families says of them; a run of few steps has learnt little."""
    own, causal = figures["own"], figures["causal"]
    if figures["steps"][-1] < 400:
        return
    assert min(own["translates"] + own["verb"]) > 0.9
    assert min(causal["translates"]) > 0.8 > min(causal["verb"])
    assert all(a > b for a, b in zip(own["verb"], causal["verb"], strict=True))
    asked = figures["asked"]
    pairs = zip(asked["the gap, few"], asked["all words, few"], strict=True)
    assert all(gap < every for gap, every in pairs)
    assert max(asked["visible words, few"] + asked["visible words, many"]) < 337 / 905


if __name__ == "__main__":
    run_and_store("families_changes", measure)
