"""What a small GPT, BERT and T5 answer, and four models more, each trained from five seeds.

All seven learn for the same number of steps, once for 400 and once for 1,200. A guess for a gap is
right if the finished sentence is one of the 905 of the corpus.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.experiments.models import families_answers as answers
from qkv.experiments.models.families import OBJECTIVES, corpus, split, train
from qkv.experiments.stored_results import run_and_store

__all__ = ["check", "measure"]

Figures = dict[str, Any]


def measure(small: bool = False) -> Figures:
    """Shares of right answers by the number of steps, one number a seed.

    All 905 gaps of each place, the 90 held-out ones of the verb, 1,000 sentences that are written,
    90 translations. Then the losses of GPT's six rows, with its mask and without one.
    """
    seeds, n = (1, 50) if small else (5, 1000)
    budgets = {"short": 10, "long": 20} if small else {"short": 400, "long": 1200}
    found: Figures = {"seeds": seeds, "steps": budgets} | {budget: {} for budget in budgets}
    for seed in range(seeds):
        for budget, steps in budgets.items():
            models = {
                kind: train(objective, seed, steps)[0] for kind, objective in OBJECTIVES.items()
            }
            for name, share in _shares(models, n, np.random.default_rng(seed)).items():
                found[budget].setdefault(name, []).append(round(float(share), 4))
            own, none = answers.without_a_mask(models["gpt"], corpus()[1])
            for name, loss in (("gpt, its mask", own), ("gpt, no mask", none)):
                rows = [round(float(row), 3) for row in loss]
                found[budget].setdefault(f"{name}: loss by row", []).append(rows)
    return found


def _shares(
    models: dict[str, qn.DecoderOnly], n: int, rng: np.random.Generator
) -> dict[str, float]:
    _, english, korean = corpus()
    new = split()[1]
    shares = {}
    gaps = [(english, place, f"fills {name}") for name, place in answers.PLACES.items()]
    for texts, place, what in (*gaps, (english[new], answers.VERB, "fills verb, held out")):
        for kind, model in models.items():
            shares[f"{kind} {what}"] = answers.filled(model, kind, texts, place)
        shares[f"gpt by sentence {what}"] = answers.filled_by_sentence(models["gpt"], texts, place)
    shares["bert under a causal mask"] = answers.verbs_under_causal_mask(models["bert"], english)
    for kind in ("bert", "mixed"):
        fits, copied = answers.verbs_unmasked(models[kind], english)
        shares |= {f"{kind} fits, unmasked": fits, f"{kind} copies, unmasked": copied}
    written = answers.write(models["gpt"], n, rng)
    shares["gpt writes"] = answers.is_known(written).mean()
    shares["gpt writes, held out"] = answers.is_held_out(written).mean()
    for way in (answers.fill_at_once, answers.fill_one_by_one):
        shares[way.__name__] = answers.is_known(way(models["any_gaps"], n, rng)).mean()
    shares["t5 translates"] = answers.translated(models["t5"], english[new], korean[new])
    return shares


def check(figures: Figures) -> None:
    """What the chapter on families says of them; a run of few steps has learnt little."""
    short, long = figures["short"], figures["long"]
    for shares in (short, long):
        one_sided = shares["gpt fills verb"] + shares["bert under a causal mask"]
        assert max(one_sided) <= 337 / 905
    if figures["steps"]["short"] < 400:
        return
    for name in ("bert fills verb", "t5 fills verb", "t5 translates"):
        assert min(short[name]) > 0.85, name
    for place in answers.PLACES:
        assert min(short[f"gpt by sentence fills {place}"]) > 0.85, place
    for shares in (short, long):
        assert min(shares["gpt writes"]) > 0.7
        assert max(shares["fill_at_once"]) < 0.25
    assert min(long["fill_one_by_one"]) > max(short["fill_one_by_one"])
    assert min(long["infill fills verb"] + long["prefix_infill fills verb"]) > 0.85
    for shares in (short, long):
        own, none = (np.array(shares[f"gpt, {m} mask: loss by row"]) for m in ("its", "no"))
        assert (none - own).min() > -0.05
        assert (none - own)[:, 1].min() > 1


if __name__ == "__main__":
    run_and_store("families_masks", measure)
