"""Greedy, beam and exact search with the checkpoints of the model that ships, and who is right.

`rows` compares beam search with greedy decoding: `helps` counts the pairs that only beam search
translates as the grammar does, `hurts` those that only greedy decoding does. `short` and `long`
count wrong translations with fewer or more words than the right one. `likeliest` is about the
sentence of the highest probability of all, by best-first search. `penalties` tries more of them.
`too_short` says what the translations with too few words are, and `early_end` how probable <eos> is
where the right translation goes on, with teacher forcing.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
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
MORE_PENALTIES = (0.0, 0.5, 1.0, 2.0, 3.0)  # of an early checkpoint, with a beam of 4
EARLY_END = (100, 300, 3000)  # checkpoints
LIMIT = 16  # tokens of a translation, <eos> among them


def likeliest(translator: Translator, text: str) -> tuple[str, float, int]:
    """The likeliest translation of all, by best-first search: always continue the likeliest prefix.

    A prefix is never less likely than what continues it. So the first sentence that is taken from
    the queue finished is the likeliest of all.

    Args:
        translator: of the NumPy room.
        text: English words that it knows.
    Returns:
        The translation, its log-probability, and how many prefixes were continued.
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
                rows.append(
                    {"step": step, "width": width, "penalty": penalty}
                    | _compare(beam, greedy, targets)
                )
        best.append({"step": step} | _exact(translator, sources, greedy, targets))
    early = pretrained(step=300)
    greedy = early.translate(sources)
    penalties, found = [], {"greedy": greedy}
    for penalty in MORE_PENALTIES:
        beam = early.translate(sources, "beam", beam_size=4, length_penalty=penalty)
        penalties.append({"penalty": penalty} | _compare(beam, greedy, targets))
        if penalty in PENALTIES:
            found[f"beam of 4, {penalty:.0f}"] = beam
    return {
        "pairs": len(pairs),
        "words": _mean_words(targets),
        "steps": list(steps),
        "widths": list(widths),
        "rows": rows,
        "likeliest": best,
        "penalties": penalties,
        "too_short": {name: _too_short(texts, targets) for name, texts in found.items()},
        "too_short_in_all": _too_short_in_all(list(found.values()), targets),
        "early_end": {str(step): _early_end(step, sources, targets) for step in EARLY_END},
    }


def _mean_words(texts: Sequence[str]) -> float:
    return round(sum(len(text.split()) for text in texts) / len(texts), 3)


def _compare(
    beam: Sequence[str], greedy: Sequence[str], targets: Sequence[str]
) -> dict[str, float]:
    triples = list(zip(beam, greedy, targets, strict=True))
    return {
        "right": sum(b == t for b, _, t in triples),
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


def _too_short_in_all(found: Sequence[Sequence[str]], targets: Sequence[str]) -> int:
    """How many sentences have too few words in each of several lists of translations."""
    rows = zip(*found, targets, strict=True)
    counts = [[len(text.split()) for text in row] for row in rows]
    return sum(max(each[:-1]) < each[-1] for each in counts)


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
    assert rows[300, 4, 1.0]["right"] > rows[300, 4, 0.0]["right"]
    kinds = figures["too_short"]["beam of 4, 0"]
    assert kinds["ends as a sentence does"] > 0.9 * kinds["all"]
    assert kinds["words left out"] > 10 * kinds["cut off"]
    assert figures["early_end"]["100"] > 50 * figures["early_end"]["300"]
    short, long = ([row[kind] for row in figures["penalties"]] for kind in ("short", "long"))
    assert short == sorted(short, reverse=True)
    assert long == sorted(long)


if __name__ == "__main__":
    run_and_store("decoding_search", measure)
