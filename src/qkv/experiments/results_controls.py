"""Heads of the model that ships, switched off or given other weights: each beside a control."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.corpus import Pair
from qkv.corpus.clause import render
from qkv.experiments.places_of_it import GROUPS, group_of
from qkv.experiments.results_heads import groups_of_pairs, roles, share_right
from qkv.experiments.stored_results import run_and_store
from qkv.pretrained import pretrained
from qkv.translator import Translator
from qkv.translator.ablation import attentions, zero_ablation

__all__ = ["check", "measure", "other_weights", "turned_change"]

SEEDS = range(5)
Rule = Callable[[Any], Any]  # the weights (n,) of a query on n words, and other ones
HEAD = 1  # of the decoder, counted from 0: the one that costs most when it is off


@contextmanager
def turned_change(attention: Any, head: int, rng: np.random.Generator) -> Iterator[None]:
    """While it is open, the output changes as far as if a head were off, but another way.

    Off, a head's part p is missing: the change is -p. Here the change is -p R, as long as p, where
    R is one random rotation for all words.
    """
    d_v = attention.sizes[-1]
    rows = attention.w_o.params["weight"][head * d_v : (head + 1) * d_v]  # (d_v, d_model)
    kept = rows.copy()
    R, _ = np.linalg.qr(rng.normal(size=(rows.shape[1], rows.shape[1])))
    rows -= (kept @ R).astype(rows.dtype)
    try:
        yield
    finally:
        rows[:] = kept


@contextmanager
def other_weights(layer: Any, head: int, rule: Rule) -> Iterator[None]:
    """While it is open, a head of a decoder layer weighs the words so far by a rule."""
    attention = layer.self_attention

    def changed(x: Any, *, need_weights: bool = False, cache: Any = None, **options: Any) -> Any:
        _, weights = attention(x, need_weights=True, cache=cache, **options)
        weights = weights.copy()  # (B, H, T, S)
        T, S = weights.shape[2:]
        for row in weights[:, head]:  # (T, S)
            for t in range(T):
                n = S - T + t + 1  # words that the query may read, itself the last
                row[t, :n] = rule(row[t, :n].copy())
        v = cache.values if cache else qn.split_heads(attention.w_v(x), attention.sizes[1])
        out = attention.w_o(qn.merge_heads(weights @ v))  # (B, T, d_model)
        return out, weights if need_weights else None

    layer.self_attention = changed
    try:
        yield
    finally:
        layer.self_attention = attention


def without_itself(weights: Any) -> Any:
    n = len(weights)
    return weights if n == 1 else np.append(np.full(n - 1, 1 / (n - 1)), 0)


def reversed_ranks(weights: Any) -> Any:
    """The smallest weight where the largest was, and so on."""
    other = np.empty_like(weights)
    other[np.argsort(weights)] = np.sort(weights)[::-1]
    return other


def rules() -> dict[str, list[Rule]]:
    """By its name, a rule; or five, that draw numbers."""

    def draws(of: Callable[..., Any]) -> list[Rule]:
        return [partial(of, rng=np.random.default_rng(seed)) for seed in SEEDS]

    return {
        "own": [lambda weights: weights],
        "equal": [lambda weights: np.full(len(weights), 1 / len(weights))],
        "equal, not on itself": [without_itself],
        "random": draws(lambda weights, rng: rng.dirichlet(np.ones(len(weights)))),
        "own, shuffled": draws(lambda weights, rng: rng.permutation(weights)),
        "own, reversed": [reversed_ranks],
    }


def weights_of_the_decoder(
    translator: Translator, groups: Sequence[Sequence[Pair]]
) -> dict[str, dict[str, list[Any]]]:
    """Of each rule: in each draw, the share of weight that it moves and exact match by group."""
    layer = translator.model.decoder.layers[0]
    found = {}
    for name, of_draws in rules().items():
        rows: dict[str, list[Any]] = {"moved": [], "right": []}
        for rule in of_draws:
            rows["moved"].append(round(moved(translator, groups[0], rule), 3))
            rows["right"].append(share_right(translator, groups, other_weights(layer, HEAD, rule)))
        found[name] = rows
    return found


def moved(translator: Translator, pairs: Sequence[Pair], rule: Rule) -> float:
    """The share of its weight that a rule moves, over rows of two or more words of right texts."""
    shares = []
    for pair in pairs:
        maps = translator.attention(" ".join(pair.source), " ".join(pair.target))
        for n, row in enumerate(maps.stack("decoder")[0, HEAD][1:], start=2):
            shares.append(np.abs(rule(row[:n].copy()) - row[:n]).sum() / 2)
    return float(np.mean(shares))


def of_each_group(
    translator: Translator, pairs: Sequence[Pair], change: AbstractContextManager[None]
) -> dict[str, list[int]]:
    """By what *it* means: how many pairs, and translations that are right, or as if it meant the
    other noun, or of which the first word, that noun, is right.
    """
    with change:
        written = translator.translate([" ".join(pair.source) for pair in pairs])
    found = {name: [0, 0, 0, 0] for name in GROUPS}
    for pair, said in zip(pairs, written, strict=True):
        as_if = render(replace(pair.features, reason_of=roles(pair)[1]))
        counts = found[group_of(pair)]
        counts[0] += 1
        counts[1] += said == " ".join(pair.target)
        counts[2] += said == " ".join(as_if.target)
        counts[3] += said.split()[:1] == list(pair.target[:1])
    return found


def measure(small: bool = False) -> dict[str, Any]:
    """On pairs that were held back: some with *it*, and others."""
    translator = pretrained()
    groups = groups_of_pairs(small)
    off = []
    for name, attention in attentions(translator.model).items():
        for head in range(attention.sizes[1]):
            changes = [turned_change(attention, head, np.random.default_rng(s)) for s in SEEDS]
            row = {
                "attention": name,
                "head": head,
                "off": share_right(translator, groups, zero_ablation(attention, head)),
                "as long": [share_right(translator, groups, change) for change in changes],
            }
            if name.startswith("encoder"):
                row["it"] = of_each_group(translator, groups[0], zero_ablation(attention, head))
            off.append(row)
    return {
        "pairs": [len(group) for group in groups],
        "off": off,
        "weights": weights_of_the_decoder(translator, groups),
    }


def check(figures: dict[str, Any]) -> None:
    """What the chapter says of heads that are off, and of the decoder's other weights."""
    off = {(row["attention"], row["head"]): row for row in figures["off"]}
    assert min(min(right) for row in off.values() for right in row["as long"]) > 0.9
    assert off["decoder 0, self", HEAD]["off"][0] < 0.6
    right = {name: np.mean(rows["right"], 0) for name, rows in figures["weights"].items()}
    far = {name: np.mean(rows["moved"]) for name, rows in figures["weights"].items()}
    assert min(right["own"]) > 0.9
    assert min(right["equal"]) > 0.85
    assert max(right["own, shuffled"]) < 0.7
    assert abs(far["own, shuffled"] - far["equal"]) < 0.15
    flips = {key: row["it"][GROUPS[1]] for key, row in off.items() if "it" in row}
    if figures["pairs"][0] > 700:
        assert flips.pop(("encoder 0, self", 0))[2] > 20
        assert all(other == 0 for _, _, other, _ in flips.values())


if __name__ == "__main__":
    run_and_store("results_controls", measure)
