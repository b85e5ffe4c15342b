"""What the pictures of the model that ships are worth: its heads changed one by one, and scored."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from itertools import zip_longest
from random import Random
from typing import Any

from qkv.corpus import Pair, sentences, split_by_combination
from qkv.corpus.clause import render
from qkv.experiments.stored_results import run_and_store
from qkv.pretrained import (
    STEPS,
    alignment_accuracy,
    exact_match,
    positional_accuracy,
    pretrained,
)
from qkv.translator import Translator
from qkv.translator.ablation import (
    attention_patching,
    attentions,
    head_means,
    mean_ablation,
    uniform_attention,
    zero_ablation,
)

__all__ = ["check", "groups_of_pairs", "measure", "places", "roles", "share_right"]

Heads = Sequence[tuple[int, int]]  # (layer of the encoder, head), counted from 0
LOOKING: Heads = [(1, 0)]  # the head that looks from *it* at the noun that is meant
ENCODER: Heads = [(0, 0), (0, 1), (1, 0), (1, 1)]
# Heads of which the row of *it* is turned, and to what: the other noun, or a control.
TURNED: list[tuple[Heads, str]] = [
    (heads, to)
    for heads in (LOOKING, ENCODER)
    for to in ("noun meant", "other noun", "because", "<eos>")
]


def places(pair: Pair) -> tuple[int, int, int]:
    """Where in the source *it* stands, the noun that it means, and the noun that it does not."""
    words = [word.lower() for word in pair.source]
    meant, other = (words.index(getattr(pair.features, role).lower()) for role in roles(pair))
    return words.index("it"), meant, other


def roles(pair: Pair) -> tuple[str, str]:
    """Of the two nouns of the main clause: the role of the one that *it* means, and the other."""
    meant = str(pair.features.reason_of)
    named = [role for role in ("subject", "object", "place") if getattr(pair.features, role)]
    (other,) = (role for role in named if role != meant)
    return meant, other


def removed(translator: Translator, groups: Sequence[Sequence[Pair]]) -> list[dict[str, Any]]:
    """For each head and each way to take it out: exact match on each group of pairs."""
    means = head_means(translator, [pair for group in groups for pair in group[::5]])
    rows = []
    for name, attention in attentions(translator.model).items():
        for head, mean in enumerate(means[name]):
            ways = {
                "off": zero_ablation(attention, head),
                "mean": mean_ablation(attention, head, mean),
                "equal": uniform_attention(attention, head),
            }
            found = {way: share_right(translator, groups, change) for way, change in ways.items()}
            rows.append({"attention": name, "head": head, **found})
    return rows


def share_right(
    translator: Translator,
    groups: Sequence[Sequence[Pair]],
    change: AbstractContextManager[None],
) -> list[float]:
    """Exact match on each group of pairs while a change is made."""
    with change:
        return [round(exact_match(translator, group)[0], 3) for group in groups]


def off_together(translator: Translator, groups: Sequence[Sequence[Pair]]) -> list[dict[str, Any]]:
    """For each layer of the encoder: exact match on each group with both heads switched off."""
    rows = []
    found = attentions(translator.model)
    for n in range(len(translator.model.encoder.layers)):
        attention = found[f"encoder {n}, self"]
        with zero_ablation(attention, 0), zero_ablation(attention, 1):
            right = [round(exact_match(translator, group)[0], 3) for group in groups]
        rows.append({"layer": n, "off": right})
    return rows


def turned_to(
    translator: Translator, pairs: Sequence[Pair], heads: Heads, to: str
) -> dict[str, Any]:
    """Shares of translations while the row of *it* is all on one word.

    Args:
        to: that word: "other noun", which *it* does not mean, "noun meant", "because" or "<eos>".

    Returns:
        heads: as "1.1+1.2", layer and head counted from 1. right: still right. other: as if *it*
        meant the other noun. meaning: by what *it* means, the number of sentences and both shares.
    """
    found: dict[str, list[tuple[bool, bool]]] = {}
    for pair in pairs:
        it, meant, other = places(pair)
        because, end = pair.source.index("because"), len(pair.source)
        key = {"other noun": other, "noun meant": meant, "because": because, "<eos>": end}[to]
        with ExitStack() as stack:
            for n, layer in enumerate(translator.model.encoder.layers):
                own = [head for of, head in heads if of == n]
                stack.enter_context(attention_patching(layer, own, it, key))
            written = translator.translate(" ".join(pair.source))
        as_if = render(replace(pair.features, reason_of=roles(pair)[1]))
        answers = (written == " ".join(pair.target), written == " ".join(as_if.target))
        found.setdefault(str(pair.features.reason_of), []).append(answers)
    right, other_noun = _shares([row for rows in found.values() for row in rows])
    return {
        "heads": _named(heads),
        "to": to,
        "right": right,
        "other": other_noun,
        "meaning": {role: [len(rows), *_shares(rows)] for role, rows in found.items()},
    }


def _named(heads: Heads) -> str:
    return "+".join(f"{layer + 1}.{head + 1}" for layer, head in heads)


def _shares(rows: Sequence[tuple[bool, bool]]) -> list[float]:
    return [round(sum(column) / len(rows), 3) for column in zip(*rows, strict=True)]


def alignment_by_step(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Of each stored checkpoint: alignment accuracy, and sentences and words that are right."""
    rows = []
    for step in STEPS:
        early = pretrained(step=step)
        alignment = _rounded(alignment_accuracy(early, pairs))
        right = round(exact_match(early, pairs)[0], 3)
        words = round(words_right(early, pairs), 3)
        rows.append({"step": step, "alignment": alignment, "right": right, "words": words})
    return rows


def words_right(translator: Translator, pairs: Sequence[Pair]) -> float:
    """The share of the Korean words that the translation has at the same place."""
    written = translator.translate([" ".join(pair.source) for pair in pairs])
    hits: list[bool] = [
        got == word
        for said, pair in zip(written, pairs, strict=True)
        for got, word in zip_longest(said.split()[: len(pair.target)], pair.target)
    ]
    return sum(hits) / len(hits)


def _rounded(shares: dict[str, float]) -> dict[str, float]:
    return {name: round(share, 3) for name, share in shares.items()}


def groups_of_pairs(small: bool = False) -> tuple[list[Pair], list[Pair]]:
    """Held-back pairs with *it*, and about as many of the others."""
    held_back = _held_back()
    pronouns = [pair for pair in held_back if pair.features.reason is not None]
    others = [pair for pair in held_back if pair.features.reason is None]
    others = others[:: len(others) // len(pronouns)]
    return (pronouns[::30], others[::30]) if small else (pronouns, others)


def _held_back() -> list[Pair]:
    return split_by_combination(list(sentences()), 0.1, Random(0))[1]


def measure(small: bool = False) -> dict[str, Any]:
    """On pairs that were held back; `pairs` counts those with *it*, some of the others, and all."""
    translator = pretrained()
    pronouns, others = groups_of_pairs(small)
    held_back = _held_back()[:: 100 if small else 1]
    return {
        "pairs": [len(pronouns), len(others), len(held_back)],
        "all heads": [round(exact_match(translator, group)[0], 3) for group in (pronouns, others)],
        "removed": removed(translator, (pronouns, others)),
        "off together": off_together(translator, (pronouns, others)),
        "turned": [turned_to(translator, pronouns, heads, to) for heads, to in TURNED],
        "by position": _rounded(positional_accuracy(held_back)),
        "by step": alignment_by_step(held_back),
    }


def check(figures: dict[str, Any]) -> None:
    """What the chapter says of the pictures; with margins for a small run."""
    assert min(figures["all heads"]) > 0.95
    removed = {(row["attention"], row["head"]): row for row in figures["removed"]}
    # The head that costs most when it is off loses little with its picture.
    most = removed["decoder 0, self", 1]
    assert min(row["off"][0] for row in removed.values()) == most["off"][0] < 0.6
    assert min(most["equal"]) > 0.85
    # The head that aligns best loses more than the picture of the head that is needed most.
    assert removed["decoder 0, cross", 0]["equal"][0] < most["equal"][0] - 0.05
    # Turned to the wrong noun, the head that is always on the right one changes few translations.
    turned = {(row["heads"], row["to"]): row for row in figures["turned"]}
    one, every = turned[_named(LOOKING), "other noun"], _named(ENCODER)
    assert one["right"] > 0.6
    assert one["other"] < 0.25
    assert one["meaning"]["subject"][1] > 0.8 > one["meaning"]["place"][1]
    # All heads together do: on the noun meant nearly all stay right, on other words few.
    assert turned[every, "noun meant"]["right"] > 0.85 > 0.6 > turned[every, "because"]["right"]
    assert turned[every, "other noun"]["right"] < 0.25
    assert turned[every, "other noun"]["other"] > turned[every, "because"]["other"] + 0.1
    steps = {row["step"]: row for row in figures["by step"]}
    assert steps[3000]["alignment"]["mean"] > 0.9 > 0.3 > max(figures["by position"].values())
    assert steps[300]["alignment"]["mean"] > 0.8 > steps[300]["right"]


if __name__ == "__main__":
    run_and_store("results_heads", measure)
