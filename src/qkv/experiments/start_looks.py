"""Looks of *it* blocked or set: which nouns are lost, in the model that ships and in two others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from random import Random
from typing import Any

import numpy as np

from qkv.corpus import Pair, glosses, sentences, split_by_combination
from qkv.corpus.reasons import FITTING
from qkv.experiments.places_of_it import (
    GROUPS,
    Place,
    Places,
    beside,
    between_others,
    group_of,
    meant,
    noun_of,
    of_it,
    of_noun,
    place_of,
)
from qkv.experiments.results_seeds import RECIPE, train
from qkv.experiments.stored_results import run_and_store
from qkv.pretrained import antecedent_attention, pretrained
from qkv.translator import Translator
from qkv.translator.ablation import attention_knockout, attention_patching

__all__ = ["check", "measure"]

WAYS = {"moved": True, "gap": False}  # whether the other weights of the row are rescaled
RUNS = [(layer, way) for layer in (0, 1) for way in WAYS]
Change = Callable[..., AbstractContextManager[None]]  # of a row of some heads of a layer


def measure(small: bool = False) -> dict[str, Any]:
    """On held-back pairs with *it*: in how many of three groups the noun stays right.

    *it* is the subject; or another noun, and the subject an animal, which *it* could be; or a
    person, which *it* is in no sentence of the grammar. The models of two other seeds are blocked
    at the same places.
    """
    _, held_back = split_by_combination(list(sentences()), 0.1, Random(0))
    pairs = [pair for pair in held_back if pair.features.reason is not None][:: 20 if small else 1]
    steps = 3 if small else RECIPE["training"]["steps"]
    shipped = pretrained()
    cut = [" ".join(pair.source[:-1]) for pair in pairs]

    def runs(place: Callable[[int], Place]) -> list[dict[str, Any]]:
        return [_blocked(shipped, pairs, place(layer), layer, way) for layer, way in RUNS]

    def largest(among: Callable[[int], Callable[[Pair], Places]]) -> Callable[[int], Place]:
        return lambda layer: _largest(shipped, pairs, layer, among(layer))

    return {
        "steps": steps,
        "pairs": _counts(pairs, [_right(pair) for pair in pairs]),
        "last word deleted": _counts(pairs, _nouns(shipped, pairs, cut)),
        "it": runs(of_it),
        "its other largest key": runs(largest(lambda layer: beside(of_it(layer)))),
        "the noun's largest key": runs(largest(lambda _: beside(of_noun))),
        "between other words": runs(largest(lambda _: between_others)),
        "all on": {role: _all_on(shipped, pairs, role) for role in ("subject", "other")},
        "written at": _written_at(shipped, pairs),
        "trainings": [
            _training(seed, train(seed, steps) if seed < 2 else shipped, pairs)
            for seed in (0, 1, 2)
        ],
    }


def _largest(
    translator: Translator, pairs: Sequence[Pair], layer: int, among: Callable[[Pair], Places]
) -> Place:
    """The row and the key with the largest average weight among some rows and keys."""
    found = {}
    for pair in pairs:
        rows, keys = among(pair)
        weights = _maps(translator, pair)[layer].mean(0)[np.ix_(rows, keys)]
        row, key = np.unravel_index(weights.argmax(), weights.shape)
        found[pair.source] = rows[row], keys[key]
    return lambda pair: found[pair.source]


def _maps(translator: Translator, pair: Pair, kind: str = "encoder") -> Any:
    """Weights, (L, H, S, S) or, for "cross", (L, H, T, S)."""
    return translator.attention(" ".join(pair.source), " ".join(pair.target)).stack(kind)


def _blocked(
    translator: Translator, pairs: Sequence[Pair], place: Place, layer: int, way: str
) -> dict[str, Any]:
    """What is right while a look is blocked; what the wrong nouns are, where *it* is no subject."""

    change = partial(attention_knockout, rescale=WAYS[way])
    found = _nouns(translator, pairs, place=place, layer=layer, change=change)
    weights = defaultdict(list)
    for pair in pairs:
        weights[group_of(pair)].append(_maps(translator, pair)[layer, :, *place(pair)].mean())
    wrong = [
        (glosses().get(noun, ""), pair)
        for noun, pair in zip(found, pairs, strict=True)
        if noun != _right(pair) and group_of(pair) != GROUPS[0]
    ]
    return {
        "round": layer + 1,
        "way": way,
        "weight": {name: round(float(np.mean(weights[name] or [0])), 2) for name in GROUPS},
        "right": _counts(pairs, found),
        "wrong": len(wrong),
        "the subject": sum(noun == pair.features.subject.lower() for noun, pair in wrong),
        "fits the last word": sum(noun in FITTING[str(p.features.reason)] for noun, p in wrong),
    }


def _all_on(translator: Translator, pairs: Sequence[Pair], role: str) -> dict[str, Any]:
    """All of *it*'s weight in layer 1 on one noun of the main clause: how often it is written."""

    def place(pair: Pair) -> tuple[int, int]:
        return place_of(pair, "it"), place_of(pair, noun_of(pair, role))

    found = _nouns(translator, pairs, place=place, layer=1, change=attention_patching)
    written = [
        pair
        for one, pair in zip(found, pairs, strict=True)
        if glosses().get(one) == noun_of(pair, role).lower()
    ]
    return {name: sum(group_of(pair) == name for pair in written) for name in GROUPS}


def _written_at(translator: Translator, pairs: Sequence[Pair]) -> dict[str, dict[str, int]]:
    """By group: at which word the average cross-attention is largest when the noun is written."""
    counts = {name: {"it": 0, "the noun": 0, "another": 0} for name in GROUPS}
    for pair in pairs:
        (at,) = (i for i, j in pair.alignment if pair.source[j] == "it")
        word = int(_maps(translator, pair, "cross")[-1, :, at].mean(0).argmax())
        name = {place_of(pair, "it"): "it", meant(pair): "the noun"}.get(word, "another")
        counts[group_of(pair)][name] += 1
    return counts


def _training(seed: int, translator: Translator, pairs: Sequence[Pair]) -> dict[str, Any]:
    """How many nouns are right, how often a head looks from *it* at them, what blocks then lose."""
    free = _nouns(translator, pairs)
    known = [pair for pair, noun in zip(pairs, free, strict=True) if noun == _right(pair)]
    looked = antecedent_attention(translator, pairs)
    runs = [_blocked(translator, known, of_it(layer), layer, way) for layer, way in RUNS if known]
    return {
        "seed": seed,
        "right": len(known),
        "it at the noun": round(max(one["antecedent"] for one in looked.values()), 3),
        "lost": [len(known) - sum(run["right"].values()) for run in runs],
        "weight": [run["weight"] for run in runs],
    }


def _nouns(
    translator: Translator,
    pairs: Sequence[Pair],
    texts: Sequence[str] | None = None,
    *,
    place: Place | None = None,
    layer: int = 0,
    change: Change | None = None,
) -> list[str]:
    """What is written for *it*, while a row of a layer is changed if asked for."""
    texts = [" ".join(pair.source) for pair in pairs] if texts is None else texts
    if place is None or change is None:
        translations = translator.translate(texts)
        return [_noun(pair, one) for pair, one in zip(pairs, translations, strict=True)]
    groups = defaultdict(list)
    for n, pair in enumerate(pairs):
        groups[place(pair)].append(n)
    found = [""] * len(pairs)
    for (query, key), group in groups.items():
        with change(translator.model.encoder.layers[layer], [0, 1], query, key):
            translations = translator.translate([texts[n] for n in group])
        for n, korean in zip(group, translations, strict=True):
            found[n] = _noun(pairs[n], korean)
    return found


def _right(pair: Pair) -> str:
    return _noun(pair, " ".join(pair.target))


def _noun(pair: Pair, korean: str) -> str:
    """The word of a translation that stands where the right one says what *it* is; "" if none."""
    (at,) = (i for i, j in pair.alignment if pair.source[j] == "it")
    return [*korean.split(), *[""] * len(pair.target)][at]


def _counts(pairs: Sequence[Pair], found: Sequence[str]) -> dict[str, int]:
    """By group, how many nouns are right."""
    right = [pair for pair, noun in zip(pairs, found, strict=True) if noun == _right(pair)]
    return {name: sum(group_of(pair) == name for pair in right) for name in GROUPS}


def check(figures: dict[str, Any]) -> None:
    """Blocking round 1 is like deleting the last word; round 2 counts where *it* is no subject."""

    def shares(right: dict[str, int]) -> list[float]:
        return [right[name] / figures["pairs"][name] for name in GROUPS]

    subject, animal, person = shares(figures["last word deleted"])
    assert animal < 0.05 < 0.95 < min(subject, person)
    for run in figures["it"]:
        subject, animal, person = shares(run["right"])
        assert subject > 0.95
        if run["round"] == 1:
            assert animal < 0.3 < 0.95 < person
            assert run["the subject"] == run["wrong"]
        else:
            assert max(animal, person) < 0.6
            assert run["fits the last word"] > 0.6 * run["wrong"] + run["the subject"]
    others = ("its other largest key", "the noun's largest key", "between other words")
    for run in (run for name in others for run in figures[name]):
        assert run["wrong"] == 0
        assert min(shares(run["right"])) > (0.95 if run in figures[others[2]] else 0.75)
    _, animal, person = shares(figures["all on"]["subject"])
    assert person < 0.5 < 0.95 < animal
    if figures["steps"] == RECIPE["training"]["steps"]:
        first, second, shipped = figures["trainings"]
        assert max(first["lost"] + second["lost"]) < 10 < 50 < min(shipped["lost"])
        assert first["it at the noun"] < 0.01 < 0.3 < second["it at the noun"]


if __name__ == "__main__":
    run_and_store("start_looks", measure)
