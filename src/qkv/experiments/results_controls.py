"""Heads of the model that ships, switched off or given other weights: each beside a control."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from qkv.corpus import Pair
from qkv.corpus.clause import render
from qkv.experiments.places_of_it import GROUPS, group_of, place_of
from qkv.experiments.results_heads import groups_of_pairs, share_right
from qkv.experiments.stored_results import run_and_store
from qkv.pretrained import pretrained
from qkv.translator import Translator
from qkv.translator.ablation import attentions, changed_weights, zero_ablation

__all__ = ["check", "measure", "other_weights", "random_rows_off", "rows_off"]

SEEDS = range(5)
Rule = Callable[[Any], Any]  # the weights (n,) of a query on n words, and other ones
HEAD = 1  # of the decoder, counted from 0: the one that costs most when it is off


@contextmanager
def random_rows_off(attention: Any, rng: np.random.Generator) -> Iterator[None]:
    """While it is open, as many rows of W_O as a head has are 0, drawn from those of all heads."""
    weight = attention.w_o.params["weight"]  # (H · d_v, d_model)
    kept = weight.copy()
    weight[rng.choice(len(weight), attention.sizes[-1], replace=False)] = 0
    try:
        yield
    finally:
        weight[:] = kept


def rows_off(layer: Any, heads: Sequence[int], rows: Sequence[int]) -> AbstractContextManager[None]:
    """While it is open, heads of an encoder layer add nothing to the words of these rows."""

    def change(weights: Any) -> None:
        weights[(slice(None), *np.ix_(heads, rows))] = 0

    return changed_weights(layer, change)


def other_weights(layer: Any, head: int, rule: Rule) -> AbstractContextManager[None]:
    """While it is open, a head of a decoder layer weighs the words so far by a rule."""

    def change(weights: Any) -> None:
        T, S = weights.shape[2:]
        for row in weights[:, head]:  # (T, S)
            for t in range(T):
                n = S - T + t + 1  # words that the query may read, itself the last
                row[t, :n] = rule(row[t, :n].copy())

    return changed_weights(layer, change)


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
    """Of each rule: in each draw, how far it moves the output and exact match by group."""
    layer = translator.model.decoder.layers[0]
    found = {}
    for name, of_draws in rules().items():
        rows: dict[str, list[Any]] = {"moved": [], "right": []}
        for rule in of_draws:
            rows["moved"].append(round(moved(translator, groups[0][::10], rule), 2))
            rows["right"].append(share_right(translator, groups, other_weights(layer, HEAD, rule)))
        found[name] = rows
    return found


def moved(translator: Translator, pairs: Sequence[Pair], rule: Rule) -> float:
    """How far a rule moves the output of a row of two or more words, on average, in right texts."""
    layer: Any = translator.model.decoder.layers[0]
    attention: Any = layer.self_attention
    calls: list[Any] = []

    def recording(x: Any, **options: Any) -> Any:
        calls.append((x, options))
        return attention(x, **options)

    layer.self_attention = recording
    try:
        for pair in pairs:
            translator.attention(" ".join(pair.source), " ".join(pair.target))
    finally:
        layer.self_attention = attention
    lengths = []
    for x, options in calls:
        with other_weights(layer, HEAD, rule):
            new, _ = layer.self_attention(x, **options)
        lengths.extend(np.linalg.norm(new - attention(x, **options)[0], axis=-1)[0, 1:])
    return float(np.mean(lengths))


# Encoder heads that are off, alone or together: (layer, heads), counted from 0.
OFF = {
    "1.1": (0, [0]),
    "1.2": (0, [1]),
    "2.1": (1, [0]),
    "2.2": (1, [1]),
    "2.1 and 2.2": (1, [0, 1]),
}


def off_in_rows(translator: Translator, pairs: Sequence[Pair]) -> dict[str, dict[str, list[int]]]:
    """By the heads that are off, and by the rows in which they are: of how many translations all
    is right, of how many the first word, the noun that *it* means, is wrong, how many are as if
    *it* meant the subject, and how many begin with a noun that the sentence does not have.
    """
    found: dict[str, dict[str, list[int]]] = {}
    for name, (n, heads) in OFF.items():
        found[name] = {"all rows": [0] * 4, "row of it": [0] * 4, "other rows": [0] * 4}
        for which, counts in found[name].items():
            for pair in pairs:
                it, end = place_of(pair, "it"), len(pair.source) + 1
                of = {"row of it": [it], "other rows": [row for row in range(end) if row != it]}
                rows = of.get(which, range(end))
                with rows_off(translator.model.encoder.layers[n], heads, rows):
                    said = translator.translate(" ".join(pair.source))
                counts[0] += said == " ".join(pair.target)
                counts[1] += said.split()[:1] != list(pair.target[:1])
                as_if = render(replace(pair.features, reason_of="subject"))
                counts[2] += said == " ".join(as_if.target)
                named = {one.target[0][:-1] for one in (pair, as_if)}  # without the particle
                counts[3] += said.split()[0][:-1] not in named
    return found


def by_adjective(translator: Translator, pairs: Sequence[Pair]) -> dict[str, list[int]]:
    """By the last word: how many pairs, and how many name another noun without head 1.1."""
    with zero_ablation(translator.model.encoder.layers[0].self_attention, 0):
        written = translator.translate([" ".join(pair.source) for pair in pairs])
    found: dict[str, list[int]] = {}
    for pair, said in zip(pairs, written, strict=True):
        counts = found.setdefault(pair.source[-1], [0, 0])
        counts[0] += 1
        counts[1] += said.split()[:1] != list(pair.target[:1])
    return found


def measure(small: bool = False) -> dict[str, Any]:
    """On pairs that were held back: some with *it*, and others."""
    translator = pretrained()
    groups = groups_of_pairs(small)
    off = []
    for name, attention in attentions(translator.model).items():
        changes = [random_rows_off(attention, np.random.default_rng(seed)) for seed in SEEDS]
        drawn = [share_right(translator, groups, change) for change in changes]
        for head in range(attention.sizes[1]):
            right = share_right(translator, groups, zero_ablation(attention, head))
            off.append({"attention": name, "head": head, "off": right, "random rows": drawn})
    other = [pair for pair in groups_of_pairs(False)[0] if group_of(pair) == GROUPS[1]]
    return {
        "pairs": [*map(len, groups), len(other)],
        "off": off,
        "rows": off_in_rows(translator, other),
        "adjectives": [[word, *of] for word, of in by_adjective(translator, other).items()],
        "weights": weights_of_the_decoder(translator, groups),
    }


def check(figures: dict[str, Any]) -> None:
    """What the chapter says of heads that are off, and of the decoder's other weights."""
    off = {(row["attention"], row["head"]): row for row in figures["off"]}
    for (name, _), row in off.items():
        assert min(min(right) for right in row["random rows"]) > 0.8, name
    assert off["decoder 0, self", HEAD]["off"][0] < 0.6
    right = {name: np.mean(rows["right"], 0) for name, rows in figures["weights"].items()}
    far = {name: np.mean(rows["moved"]) for name, rows in figures["weights"].items()}
    assert min(right["own"]) > 0.9
    assert min(right["equal"]) > 0.85
    assert max(right["own, shuffled"]) < 0.7
    assert 0.75 < far["own, shuffled"] / far["equal"] < 1.25
    rows = figures["rows"]
    for name, noun_wrong in (("1.1", 20), ("2.1 and 2.2", 50)):
        assert min(rows[name]["all rows"][1], rows[name]["row of it"][1]) > noun_wrong
        assert rows[name]["other rows"][1] < 3
    assert rows["1.1"]["row of it"][2:] == [rows["1.1"]["row of it"][1], 0]
    assert rows["2.1 and 2.2"]["all rows"][2:] == [0, rows["2.1 and 2.2"]["all rows"][1]]
    assert max(rows[name]["all rows"][1] for name in ("1.2", "2.1", "2.2")) < 3


if __name__ == "__main__":
    run_and_store("results_controls", measure)
