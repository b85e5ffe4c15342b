"""The model that ships, trained to step 300 from six seeds: what a length penalty does to each.

By greedy decoding, and by a beam of 4 that compares sums or means. `short`, `long` and `other`
count wrong translations with fewer words than the right one, with more, and with as many. `as
greedy` counts those by the sum that are too short, and that greedy decoding writes word for word.
`examples` are the translations of sentences of the chapter, and `early_end` is how probable <eos>
is where the right translation goes on, with teacher forcing: the largest of all places.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.corpus import sentences, split_by_combination
from qkv.experiments.decoding_search import FOUND
from qkv.experiments.results_seeds import RECIPE, train
from qkv.experiments.stored_results import run_and_store
from qkv.text import EOS, SOS
from qkv.translator import Translator

__all__ = ["check", "measure"]

STEP = 300
EXAMPLES = ("The teacher will meet the doctor", "The student laughed in the wide park")


def measure(small: bool = False) -> dict[str, Any]:
    """Each seed by greedy decoding, by sums and by means, on every fourth pair held back."""
    _, held_back = split_by_combination(list(sentences()), 0.1, Random(0))
    pairs = held_back[:: 344 if small else 4]
    sources = [" ".join(pair.source) for pair in pairs]
    targets = [" ".join(pair.target) for pair in pairs]
    runs = []
    for seed in range(1 if small else 6):
        translator = train(seed, RECIPE["training"]["steps"], until=2 if small else STEP)
        found = {
            name: translator.translate([*sources, *EXAMPLES], "beam", **options)
            for name, options in FOUND.items()
        }
        run: dict[str, Any] = {"seed": seed}
        run |= {name: _counts(texts, targets) for name, texts in found.items()}
        three = zip(found["sum"], found["greedy"], targets)  # noqa: B905  examples come last
        run["as greedy"] = sum(_words(a) < _words(c) and a == b for a, b, c in three)
        run["examples"] = {name: texts[-len(EXAMPLES) :] for name, texts in found.items()}
        run["early_end"] = _early_end(translator, sources, targets)
        runs.append(run)
    return {"step": 2 if small else STEP, "pairs": len(pairs), "runs": runs}


def _words(text: str) -> int:
    return len(text.split())


def _counts(found: Sequence[str], targets: Sequence[str]) -> dict[str, int]:
    pairs = list(zip(found, targets))  # noqa: B905  the examples come last
    wrong = [(_words(f), _words(t)) for f, t in pairs if f != t]
    return {
        "right": len(pairs) - len(wrong),
        "short": sum(f < t for f, t in wrong),
        "long": sum(f > t for f, t in wrong),
        "other": sum(f == t for f, t in wrong),
    }


def _early_end(translator: Translator, sources: Sequence[str], targets: Sequence[str]) -> float:
    largest = 0.0
    model: Any = translator.model
    with model.inference_mode():
        for source, target in zip(sources, targets, strict=True):
            ids = translator.source.encode(source, eos=True)[None]  # (1, S)
            read = np.array([[SOS, *translator.target.encode(target)]])  # (1, T)
            p = qn.softmax(model(ids, read)[0])[:-1, EOS]
            largest = max(largest, float(p.max()))
    return round(largest, 4)


def check(figures: dict[str, Any]) -> None:
    """The sum leaves more translations too short, with every seed; more right, not with every."""
    for run in figures["runs"]:
        for name in FOUND:
            assert sum(run[name].values()) == figures["pairs"]
        assert run["as greedy"] <= run["sum"]["short"]
    if figures["step"] == STEP:
        for run in figures["runs"]:
            assert run["sum"]["short"] > run["mean"]["short"] + 10
            assert run["sum"]["long"] < run["mean"]["long"]
            assert run["as greedy"] > 0.4 * run["sum"]["short"]
        more = [run["mean"]["right"] - run["sum"]["right"] for run in figures["runs"]]
        assert min(more) <= 0 < max(more) < 20


if __name__ == "__main__":
    run_and_store("decoding_seeds", measure)
