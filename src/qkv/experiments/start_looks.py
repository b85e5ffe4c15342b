"""Looks of *it* blocked in the model that ships: how often the noun stays right, and a control."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

from qkv.corpus import Pair, glosses, sentences, split_by_combination
from qkv.corpus.reasons import PEOPLE
from qkv.experiments.stored_results import run_and_store
from qkv.pretrained import pretrained
from qkv.translator import Translator
from qkv.translator.ablation import attention_knockout

__all__ = ["check", "measure"]

WAYS = {"moved": True, "gap": False}  # whether the other weights of the row are rescaled
GROUPS = ("subject", "other, subject an animal", "other, subject a person")
Place = Callable[[Pair, int], tuple[int, tuple[int, int]]]  # a row, and a key of each head


def measure(small: bool = False) -> dict[str, Any]:
    """On held-back pairs with *it*: in how many of three groups the noun stays right.

    *it* is the subject; or another noun, and the subject an animal, which *it* could be; or a
    person, which *it* is in no sentence of the grammar.
    """
    translator = pretrained()
    _, held_back = split_by_combination(list(sentences()), 0.1, Random(0))
    pairs = [pair for pair in held_back if pair.features.reason is not None][:: 20 if small else 1]
    group = np.array([group_of(pair) for pair in pairs])
    expected = np.array([noun_of_it(pair, " ".join(pair.target)) for pair in pairs])

    def scores(place: Place, layer: int, way: str) -> dict[str, Any]:
        found = np.array(nouns(translator, pairs, place, layer, WAYS[way]))
        right = found == expected
        weights = np.array([weight_at(translator, pair, place, layer) for pair in pairs])
        written = np.array([glosses().get(noun, "") for noun in found])
        subjects = np.array([pair.features.subject.lower() for pair in pairs])
        return {
            "round": layer + 1,
            "way": way,
            "weight": {name: round(float(np.mean(weights[group == name])), 2) for name in GROUPS},
            "right": {name: int(right[group == name].sum()) for name in GROUPS},
            "wrong": int((~right & (group != GROUPS[0])).sum()),  # where *it* is no subject
            "the subject": int((~right & (group != GROUPS[0]) & (written == subjects)).sum()),
        }

    return {
        "pairs": {name: int((group == name).sum()) for name in GROUPS},
        "it": [scores(of_it, layer, way) for layer in (0, 1) for way in WAYS],
        "another word": [
            scores(of_another(translator, pairs), layer, way) for layer in (0, 1) for way in WAYS
        ],
    }


def group_of(pair: Pair) -> str:
    """Which of GROUPS."""
    if pair.features.reason_of == "subject":
        return GROUPS[0]
    return GROUPS[2] if pair.features.subject in PEOPLE else GROUPS[1]


def of_it(pair: Pair, layer: int) -> tuple[int, tuple[int, int]]:
    """Places of *it* and of what it looks at: the adjective in layer 0, the noun meant in 1."""
    words = [word.lower() for word in pair.source]
    noun = getattr(pair.features, str(pair.features.reason_of)).lower()
    key = words.index(noun) if layer else len(words) - 1
    return words.index("it"), (key, key)


def of_another(translator: Translator, pairs: Sequence[Pair]) -> Place:
    """Of all words but *it*, the one whose heads have the largest weights, and where these are."""
    found = {}
    for pair in pairs:
        words = len(pair.source)  # <eos> left out
        for layer, weights in enumerate(maps_of(translator, pair)[..., :words, :words]):
            sizes = weights.max(-1).mean(0)  # (S,)
            sizes[pair.source.index("it")] = 0
            query = int(sizes.argmax())
            first, second = weights[:, query].argmax(-1).tolist()
            found[pair.source, layer] = query, (first, second)
    return lambda pair, layer: found[pair.source, layer]


def maps_of(translator: Translator, pair: Pair) -> Any:
    """Weights of the encoder, (L, H, S, S)."""
    return translator.attention(" ".join(pair.source), " ".join(pair.target)).stack("encoder")


def weight_at(translator: Translator, pair: Pair, place: Place, layer: int) -> float:
    """The weight that is blocked, averaged over the heads."""
    query, keys = place(pair, layer)
    return float(maps_of(translator, pair)[layer, [0, 1], query, list(keys)].mean())


def nouns(
    translator: Translator, pairs: Sequence[Pair], place: Place, layer: int, rescale: bool
) -> list[str]:
    """What is written for *it* while the weight at its place is 0 in both heads of a layer."""
    groups = defaultdict(list)
    for n, pair in enumerate(pairs):
        groups[place(pair, layer)].append(n)
    found = [""] * len(pairs)
    changed = translator.model.encoder.layers[layer]
    for (query, keys), group in groups.items():
        with attention_knockout(changed, [0, 1], query, keys, rescale=rescale):
            written = translator.translate([" ".join(pairs[n].source) for n in group])
        for n, korean in zip(group, written, strict=True):
            found[n] = noun_of_it(pairs[n], korean)
    return found


def noun_of_it(pair: Pair, korean: str) -> str:
    """The word of a translation that stands where the right one says what *it* is; "" if none."""
    (at,) = (i for i, j in pair.alignment if pair.source[j] == "it")
    return [*korean.split(), *[""] * len(pair.target)][at]


def check(figures: dict[str, Any]) -> None:
    """The first look decides after an animal alone, the second where *it* is no subject."""
    subject, animal, person = GROUPS
    pairs = figures["pairs"]

    def share(run: dict[str, Any], name: str) -> float:
        return float(run["right"][name] / pairs[name])

    for run in figures["it"]:
        assert share(run, subject) > 0.95
        if run["round"] == 1:
            assert share(run, animal) < 0.3 < 0.95 < share(run, person)
            assert run["the subject"] == run["wrong"]
        else:
            assert share(run, animal) < 0.6
            assert share(run, person) < 0.6
            assert run["the subject"] == 0
    for run in figures["another word"]:
        assert min(share(run, name) for name in pairs) > 0.95
        assert min(run["weight"].values()) > 0.8  # as large as those of *it*


if __name__ == "__main__":
    run_and_store("start_looks", measure)
