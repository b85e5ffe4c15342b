"""Greedy, beam and exact search with the checkpoints of the model that ships, and who is right.

`rows` compares beam search with greedy decoding: `helps` counts the pairs that only beam search
translates as the grammar does, `hurts` those that only greedy decoding does. `short` and `long`
count wrong translations with fewer or more words than the right one. `likeliest` is about the
sentence of the highest probability of all, by best-first search. `too_short` and `repeats` say, of
all pairs that were held back, what the wrong translations of an early checkpoint are.
`stopping` varies the rule by which a search stops. `early_end` is how probable <eos> is
where the right translation goes on, with teacher forcing.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.corpus import sentences, split_by_combination
from qkv.experiments.stored_results import run_and_store
from qkv.pretrained import pretrained
from qkv.text import EOS, SOS
from qkv.translator import Translator

__all__ = ["check", "likeliest", "measure"]

PENALTIES = (0.0, 1.0)
STOPPING = (True, False, "never")  # rules of `qn.beam_search`, for a beam of 4
FOUND: dict[str, Any] = {  # options of `translate`
    "greedy": {"beam_size": 1},
    "sum": {"beam_size": 4, "length_penalty": 0.0},
    "mean": {"beam_size": 4, "length_penalty": 1.0},
}
EARLY_END = (100, 300, 3000)  # checkpoints
LIMIT = 16  # tokens of a translation, <eos> among them


def likeliest(translator: Translator, text: str) -> tuple[str, float, int]:
    """The likeliest translation of all, by best-first search: always continue the likeliest prefix.

    A prefix is never less likely than what continues it. So the first sentence that is taken from
    the queue finished is the likeliest of all.

    Returns the translation, its log-probability, and how many prefixes were continued.
    """
    model: Any = translator.model
    with model.inference_mode():
        memory = model.encode(translator.source.encode(text, eos=True)[None])  # (1, S, d_model)
        queue: list[tuple[float, tuple[int, ...]]] = [(0.0, (SOS,))]
        continued = 0
        while True:
            cost, prefix = heapq.heappop(queue)
            if prefix[-1] == EOS or len(prefix) == LIMIT + 1:
                return translator.target.decode(np.array(prefix[1:])), -cost, continued
            logits = model.decode(np.array([prefix]), memory, last=True)  # (1, 1, V)
            log_p = qn.log_softmax(logits)[0, 0]  # (V,)
            for token, gain in enumerate(log_p.tolist()):
                heapq.heappush(queue, (cost - gain, (*prefix, token)))
            continued += 1


def measure(small: bool = False) -> dict[str, Any]:
    """On every fourth pair that was held back: right translations by checkpoint, width, penalty."""
    _, held_back = split_by_combination(list(sentences()), 0.1, Random(0))
    pairs = held_back[:: 344 if small else 4]
    sources = [" ".join(pair.source) for pair in pairs]
    targets = [" ".join(pair.target) for pair in pairs]
    steps = (100, 300, 3000) if small else (100, 300, 600, 1000, 3000)
    widths = (1, 4) if small else (1, 2, 4, 8, 16)
    rows, best = [], []
    for step in steps:
        translator = pretrained(step=step)
        greedy = translator.translate(sources)
        for width in widths:
            for penalty in PENALTIES:
                options = {"beam_size": width, "length_penalty": penalty}
                beam = translator.translate(sources, "beam", **options)
                counts = _compare(beam, greedy, targets)
                rows.append({"step": step, "width": width, "penalty": penalty} | counts)
        best.append({"step": step} | _exact(translator, sources, greedy, targets))
    return {
        "pairs": len(pairs),
        "words": _mean_words(targets),
        "steps": list(steps),
        "widths": list(widths),
        "rows": rows,
        "likeliest": best,
        "stopping": _stopping(sources, targets),
        "early_end": {str(step): _early_end(step, sources, targets) for step in EARLY_END},
        **_early_mistakes(held_back[:: 344 if small else 1]),
    }


def _early_mistakes(pairs: Sequence[Any]) -> dict[str, dict[str, int]]:
    """The early checkpoint, with more pairs: what its wrong translations are."""
    sources = [" ".join(pair.source) for pair in pairs]
    targets = [" ".join(pair.target) for pair in pairs]
    early = pretrained(step=300)
    greedy, by_sum = (early.translate(sources, "beam", **FOUND[name]) for name in ("greedy", "sum"))
    return {"too_short": _too_short(by_sum, targets), "repeats": _repeats(greedy, targets)}


def _repeats(found: Sequence[str], targets: Sequence[str]) -> dict[str, int]:
    """Wrong translations with a word twice in direct succession, and those up to the limit."""
    wrong = [f.split() for f, t in zip(found, targets, strict=True) if f != t]
    return {
        "wrong": len(wrong),
        "a word twice": sum(any(a == b for a, b in pairwise(words)) for words in wrong),
        "to the limit": sum(len(words) >= LIMIT - 1 for words in wrong),
    }


def _stopping(sources: Sequence[str], targets: Sequence[str]) -> list[dict[str, Any]]:
    """Translations of an early checkpoint by a beam of 4, by exponent and stopping rule."""
    early = pretrained(step=300)
    greedy = early.translate(sources)
    rows: list[dict[str, Any]] = []
    for penalty in (1.0, 3.0):
        for rule in STOPPING:
            options: Any = {"beam_size": 4, "length_penalty": penalty, "early_stopping": rule}
            found = early.translate(sources, "beam", **options)
            rows.append({**_compare(found, greedy, targets), "penalty": penalty, "rule": rule})
    return rows


def _mean_words(texts: Sequence[str]) -> float:
    return round(sum(len(text.split()) for text in texts) / len(texts), 3)


def _right(found: Sequence[str], targets: Sequence[str]) -> int:
    return sum(a == b for a, b in zip(found, targets, strict=True))


def _compare(
    beam: Sequence[str], greedy: Sequence[str], targets: Sequence[str]
) -> dict[str, float]:
    triples = list(zip(beam, greedy, targets, strict=True))
    return {
        "right": _right(beam, targets),
        "helps": sum(b == t != g for b, g, t in triples),
        "hurts": sum(g == t != b for b, g, t in triples),
        "other": sum(b != g for b, g, _ in triples),
        "empty": sum(not b for b in beam),
        "short": sum(len(b.split()) < len(t.split()) for b, _, t in triples),
        "long": sum(len(b.split()) > len(t.split()) for b, _, t in triples),
        "words": _mean_words(beam),
    }


def _exact(
    translator: Translator, sources: Sequence[str], greedy: Sequence[str], targets: Sequence[str]
) -> dict[str, float]:
    found = [likeliest(translator, text) for text in sources]
    return {
        **_compare([f[0] for f in found], greedy, targets),
        "continued, median": float(np.median([f[2] for f in found])),
        "continued, most": max(f[2] for f in found),
    }


def _too_short(found: Sequence[str], targets: Sequence[str]) -> dict[str, int]:
    """Translations with too few words: with a last word, with words left out, or cut off."""
    last_words = {pair.target[-1] for pair in sentences()}
    pairs = [(f.split(), t.split()) for f, t in zip(found, targets, strict=True)]
    short = [(f, t) for f, t in pairs if len(f) < len(t)]
    return {
        "all": len(short),
        "ends as a sentence does": sum(bool(f) and f[-1] in last_words for f, _ in short),
        "words left out": sum(bool(f) and f[-1] == t[-1] and _is_part(f, t) for f, t in short),
        "cut off": sum(f == t[: len(f)] for f, t in short),
    }


def _is_part(words: Sequence[str], of: Sequence[str]) -> bool:
    """Whether all words stand in the other sentence, in the same order."""
    rest = iter(of)
    return all(word in rest for word in words)


def _early_end(step: int, sources: Sequence[str], targets: Sequence[str]) -> float:
    """The mean probability of <eos> where the right translation goes on, given its words so far."""
    translator = pretrained(step=step)
    model: Any = translator.model
    found: list[float] = []
    with model.inference_mode():
        for source, target in zip(sources, targets, strict=True):
            ids = translator.source.encode(source, eos=True)[None]  # (1, S)
            read = np.array([[SOS, *translator.target.encode(target)]])  # (1, T)
            found += qn.softmax(model(ids, read)[0])[:-1, EOS].tolist()
    return round(sum(found) / len(found), 5)


def check(figures: dict[str, Any]) -> None:
    """Width 1 is greedy; raw sums shorten early translations; the last checkpoint gains nothing."""
    rows = {(row["step"], row["width"], row["penalty"]): row for row in figures["rows"]}
    narrow, wide = figures["widths"][0], figures["widths"][-1]
    for step in figures["steps"]:
        for penalty in PENALTIES:
            assert rows[step, narrow, penalty]["other"] == 0
    assert rows[100, wide, 0.0]["words"] < rows[100, narrow, 0.0]["words"]
    assert rows[100, wide, 0.0]["words"] < rows[100, wide, 1.0]["words"]
    assert rows[100, wide, 1.0]["empty"] == 0 < figures["likeliest"][0]["empty"]
    assert rows[3000, wide, 1.0]["other"] == 0
    if figures["pairs"] < 500:
        return
    assert rows[300, 4, 1.0]["helps"] > 3 * rows[300, 4, 1.0]["hurts"] > 0
    assert rows[600, 4, 1.0]["helps"] <= rows[600, 4, 1.0]["hurts"]
    kinds = figures["too_short"]
    assert kinds["ends as a sentence does"] > 0.9 * kinds["all"]
    assert kinds["words left out"] > 10 * kinds["cut off"]
    assert figures["early_end"]["100"] > 50 * figures["early_end"]["300"]
    long = {(row["penalty"], row["rule"]): row["long"] for row in figures["stopping"]}
    assert long[3.0, "never"] > 2 * long[3.0, False] > 4 * long[1.0, False]


if __name__ == "__main__":
    run_and_store("decoding_search", measure)
