"""Constituency parsing as translation: from a sentence to its tree in brackets, words left out.

"The cat sat on the mat" becomes "(S (NP XX XX )NP (VP XX (PP XX (NP XX XX )NP )PP )VP )S". A small
encoder-decoder learns it from sentences of the grammar that have at most 8 words and no adjective
before a place. It is tested on three kinds of sentences that it has not seen: `like training`;
`new place`, with an adjective before a place; `longer`, with 9 to 12 words.

Figures, in `tests`, one a kind: `sentences`, how many; `commonest`, the F1 of a rule that writes
the tree that is commonest in training among sentences of as many words, where there are any; and
`well_formed`, `same_length`, `f1` and `exact` of `qkv.corpus.TreeScores`, for each seed. In
`lengths`, `exact` for each number of words, of `like training` up to 8 and of `longer` from 9 on.
`examples` are outputs of the first seed: of each kind the first right and the first wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import torch

from qkv.corpus import Pair, constituency_tree, linearize, score_trees, sentences
from qkv.experiments.small_translator import SIZES, train_translator
from qkv.experiments.stored_results import run_and_store
from qkv.trainer import DataConfig, TranslationData
from qkv.translator import Translator

__all__ = ["check", "measure", "split"]

Figures = dict[str, Any]
Splits = dict[str, list[Pair]]

LONGEST = 8  # words of a sentence in training
TESTED = 500  # sentences of each kind
KEPT = ("well_formed", "same_length", "f1", "exact")
CONFIG = DataConfig(words=True, separate_vocabularies=True, max_len=40)


def measure(small: bool = False) -> Figures:
    """Train a parser from each seed, and score it on each kind of sentences."""
    torch.set_num_threads(1)
    seeds, steps = (range(1), 40) if small else (range(3), 1000)
    training, tests = split()
    if small:
        training = training[::10]
        tests = {kind: pairs[:50] for kind, pairs in tests.items()}
    outputs = [_outputs(training, tests, steps, seed) for seed in seeds]
    return {
        "model": SIZES | {"dropout": 0.0},
        "steps": steps,
        "seeds": list(seeds),
        "training": len(training),
        "tests": [
            {
                "kind": kind,
                "sentences": len(pairs),
                "commonest": _commonest(training, pairs),
                **_scores([found[kind] for found in outputs], pairs),
            }
            for kind, pairs in tests.items()
        ],
        "lengths": _by_length(tests, outputs),
        "examples": [
            example
            for kind, pairs in tests.items()
            for example in _examples(kind, pairs, outputs[0][kind])
        ],
    }


def split() -> tuple[list[Pair], Splits]:
    """The pairs to learn from, and those of each kind to test with."""
    pairs = sentences()
    short = [pair for pair in pairs if len(pair.source) <= LONGEST]
    seen = [pair for pair in short if pair.features.describes != "place"]
    rng = Random(0)
    kinds = {
        "like training": seen,
        "new place": [pair for pair in short if pair.features.describes == "place"],
        "longer": [pair for pair in pairs if len(pair.source) > LONGEST],
    }
    tests = {kind: _draw(found, rng) for kind, found in kinds.items()}
    held_back = set(tests["like training"])
    return [pair for pair in seen if pair not in held_back], tests


def check(figures: Figures) -> None:
    """What the chapter says; a small run has too few steps for all of it."""
    seen, new, longer = figures["tests"]
    exact = {row["words"]: row["exact"] for row in figures["lengths"]}
    assert seen["commonest"] > 0.6
    assert new["commonest"] < 0.45
    assert longer["commonest"] is None
    assert max(new["exact"]) < 0.02
    assert max(max(shares) for words, shares in exact.items() if words > LONGEST + 1) < 0.02
    if figures["steps"] < 500:
        return
    assert min(seen["well_formed"]) > 0.99
    assert min(seen["exact"]) > 0.9
    assert min(seen["f1"]) > 0.9 > seen["commonest"] + 0.15
    assert min(new["well_formed"]) > 0.99
    assert max(new["f1"]) < 0.25 < new["commonest"]
    assert 0.2 < min(longer["f1"]) <= max(longer["f1"]) < 0.4
    assert min(exact[LONGEST]) > 0.8
    assert 0.3 < min(exact[LONGEST + 1]) <= max(exact[LONGEST + 1]) < 0.6


def _draw(pairs: Sequence[Pair], rng: Random) -> list[Pair]:
    return sorted(pairs, key=lambda _: rng.random())[:TESTED]


def _texts(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    return [(" ".join(p.source), linearize(constituency_tree(p), words=False)) for p in pairs]


def _outputs(
    training: Sequence[Pair], tests: Splits, steps: int, seed: int
) -> dict[str, list[str]]:
    """What one parser writes for the sentences of each kind."""
    data = TranslationData.from_pairs(_texts(training), _texts(tests["like training"]), CONFIG)
    model = train_translator(data, steps=steps, seed=seed, dropout=0.0).model
    parser = Translator(model, data.source, data.target)
    return {
        kind: parser.translate(source for source, _ in _texts(pairs))
        for kind, pairs in tests.items()
    }


def _scores(outputs: Sequence[Sequence[str]], pairs: Sequence[Pair]) -> dict[str, list[float]]:
    """Each score, one number a seed."""
    trees = [constituency_tree(pair) for pair in pairs]
    scores = [score_trees(found, trees) for found in outputs]
    return {name: [round(getattr(score, name), 4) for score in scores] for name in KEPT}


def _by_length(tests: Splits, outputs: Sequence[dict[str, list[str]]]) -> list[Figures]:
    """Exact trees, one number a seed, for each number of words."""
    right: dict[int, list[list[bool]]] = {}
    for kind in ("like training", "longer"):
        for (source, tree), *found in zip(
            _texts(tests[kind]), *(seed[kind] for seed in outputs), strict=True
        ):
            hits = right.setdefault(len(source.split()), [])
            hits.append([output == tree for output in found])
    return [
        {
            "words": words,
            "sentences": len(hits),
            "exact": [round(sum(seed) / len(hits), 4) for seed in zip(*hits, strict=True)],
        }
        for words, hits in sorted(right.items())
    ]


def _commonest(training: Sequence[Pair], pairs: Sequence[Pair]) -> float | None:
    """F1 of the commonest tree of as many words."""
    counts: dict[int, Counter[str]] = {}
    for pair, (_, tree) in zip(training, _texts(training), strict=True):
        counts.setdefault(len(pair.source), Counter())[tree] += 1
    if any(len(pair.source) not in counts for pair in pairs):
        return None
    outputs = [counts[len(pair.source)].most_common(1)[0][0] for pair in pairs]
    return round(score_trees(outputs, [constituency_tree(pair) for pair in pairs]).f1, 4)


def _examples(kind: str, pairs: Sequence[Pair], outputs: Sequence[str]) -> list[dict[str, str]]:
    """The first that is right and the first that is wrong, if there is one."""
    found: dict[bool, dict[str, str]] = {}
    for (source, tree), output in zip(_texts(pairs), outputs, strict=True):
        example = {"kind": kind, "sentence": source, "tree": tree, "output": output}
        found.setdefault(tree == output, example)
    return [found[right] for right in (True, False) if right in found]


if __name__ == "__main__":
    run_and_store("results_parsing", measure)
