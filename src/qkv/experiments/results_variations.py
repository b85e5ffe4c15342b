"""Variations of a small translator, as table 3 of the paper varies its base model; five seeds each.

One thing is changed at a time: heads (A), d_k (B), layers of encoder and decoder each (C), dropout
and label smoothing (D), positions (E). Models of one seed see the same batches. The training is
short, and the learning rate the same for all; it was chosen for the base. Figures, in `runs`, one
a variant:

- `loss`: of 1,000 pairs held back, in nats per token, without label smoothing, for each seed.
- `exact`: the share of them that greedy decoding translates word for word.
- `order`: that share of the pairs held back whose words, in another order, are another sentence:
  "The child helps the student". Without positions, an encoder gives both the same words.
- `difference`: of `exact` to the base, averaged over seeds; `spread`: its standard deviation over
  seeds, where each seed is compared with itself.
- `wins`: with how many seeds `exact` is higher than the base's; `wins_of_all`: in how many pairs of
  any seed of one and any of the other. Equal shares count half.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from statistics import mean, stdev
from typing import Any

import torch

from qkv.corpus import Pair, sentences, split_by_combination
from qkv.experiments.small_translator import SIZES, train_translator
from qkv.experiments.stored_results import run_and_store
from qkv.pretrained import exact_match
from qkv.trainer import TranslationData
from qkv.translator import Translator

__all__ = ["VARIANTS", "check", "measure", "order_pairs", "wins"]

Figures = dict[str, Any]

# Row of the paper's table 3, and what is changed. Of the positions, the paper has the learned ones.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "base": ("base", {}),
    "1 head": ("A", {"n_heads": 1, "d_k": 32, "d_v": 32}),
    "2 heads": ("A", {"n_heads": 2, "d_k": 16, "d_v": 16}),
    "8 heads": ("A", {"n_heads": 8, "d_k": 4, "d_v": 4}),
    "d_k 2": ("B", {"d_k": 2}),
    "1 layer": ("C", {"n_layers": 1}),
    "3 layers": ("C", {"n_layers": 3}),
    "dropout 0": ("D", {"dropout": 0.0}),
    "dropout 0.3": ("D", {"dropout": 0.3}),
    "label smoothing 0": ("D", {"label_smoothing": 0.0}),
    "learned positions": ("E", {"positions": "learned"}),
    "rotary positions": ("E", {"positions": "rotary"}),
    "no positions": ("E", {"positions": "none"}),
}
SMALL = ("base", "1 head", "no positions")


def measure(small: bool = False) -> Figures:
    """Every variant with every seed, compared with the base."""
    torch.set_num_threads(1)
    seeds, steps = (range(2), 20) if small else (range(5), 600)
    data, order = _data(100 if small else 1000)
    runs: list[Figures] = []
    for name in SMALL if small else VARIANTS:
        row, changes = VARIANTS[name]
        found = [train(data, order, steps, seed, changes) for seed in seeds]
        scores = {key: [run[key] for run in found] for key in ("loss", "exact", "order")}
        runs.append({"variant": name, "row": row, "parameters": found[0]["parameters"], **scores})
    base = runs[0]["exact"]
    for run in runs:
        differences = [one - other for one, other in zip(run["exact"], base, strict=True)]
        run["difference"] = round(mean(differences), 4)
        run["spread"] = round(stdev(differences), 4)
        run["wins"] = sum(map(_win, run["exact"], base))
        run["wins_of_all"] = wins(run["exact"], base)
    return {
        "base": SIZES,
        "steps": steps,
        "seeds": list(seeds),
        "pairs": len(data.validation),
        "order pairs": len(order),
        "runs": runs,
    }


def train(
    data: TranslationData, order: Sequence[Pair], steps: int, seed: int, changes: dict[str, Any]
) -> dict[str, float]:
    """Train one model: its number of parameters, and its scores on pairs held back."""
    trainer = train_translator(data, steps=steps, seed=seed, **changes)
    scores = trainer.validate()
    translator = Translator(trainer.model, data.source, data.target)
    return {
        "parameters": sum(p.numel() for p in trainer.model.parameters()),
        "loss": round(scores.loss, 4),
        "exact": round(scores.exact / 100, 4),
        "order": round(exact_match(translator, order)[0], 4),
    }


def wins(one: Sequence[float], other: Sequence[float]) -> float:
    """In how many of all pairs of runs the first is higher; equal ones count half."""
    return sum(_win(a, b) for a in one for b in other)


def order_pairs(pairs: Sequence[Pair], among: Sequence[Pair]) -> list[Pair]:
    """The pairs whose English words, in another order, are another sentence among all."""
    counts = Counter(_words(pair) for pair in among)
    return [pair for pair in pairs if counts[_words(pair)] > 1]


def check(figures: Figures) -> None:
    """What the chapter says; a small run has too few steps for all of it."""
    runs = {run["variant"]: run for run in figures["runs"]}
    seeds, base, none = len(figures["seeds"]), runs["base"], runs["no positions"]
    assert (base["wins"], base["wins_of_all"]) == (seeds / 2, seeds**2 / 2)
    assert max(none["order"]) < 0.5  # a bag of words is one for two sentences
    if figures["steps"] < 500:
        return
    assert 0.35 < min(base["exact"]) <= max(base["exact"]) < 0.65
    assert max(none["order"]) < min(base["order"])
    for name in ("1 head", "2 heads", "8 heads", "1 layer", "no positions"):  # the seed decides
        assert 0 < runs[name]["wins"] < seeds, name
        assert abs(runs[name]["difference"]) < runs[name]["spread"], name
    for name in ("d_k 2", "3 layers", "dropout 0.3"):
        assert runs[name]["wins"] == 0, name
    for name in ("dropout 0", "learned positions", "rotary positions"):
        assert runs[name]["wins"] == seeds, name
    assert min(runs["dropout 0"]["exact"]) > max(base["exact"])
    assert max(runs["3 layers"]["exact"]) < 0.1


def _data(valid_pairs: int = 1000) -> tuple[TranslationData, list[Pair]]:
    """The grammar's pairs to train and to validate with; those held back that hang on order."""
    data = TranslationData.from_grammar(
        words=True, separate_vocabularies=True, max_len=16, valid_pairs=valid_pairs
    )
    everything = sentences()
    held_back = split_by_combination(everything, 0.1, Random(0))[1]
    return data, order_pairs(held_back, everything)


def _words(pair: Pair) -> tuple[str, ...]:
    return tuple(sorted(word.lower() for word in pair.source))


def _win(one: float, other: float) -> float:
    return float(one > other) + 0.5 * (one == other)


if __name__ == "__main__":
    run_and_store("results_variations", measure)
