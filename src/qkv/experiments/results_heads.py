"""What the pictures of the model that ships are worth: its heads changed one by one, and scored."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from random import Random
from typing import Any

from qkv.corpus import Pair, sentences, split_by_combination
from qkv.corpus.clause import render
from qkv.experiments.stored import run_and_store
from qkv.pretrained import (
    STEPS,
    alignment_accuracy,
    exact_match,
    positional_accuracy,
    pretrained,
)
from qkv.translator import Translator
from qkv.translator.head_changes import (
    attentions,
    equal_weights,
    head_means,
    replaced_by_mean,
    switched_off,
    turned,
)

__all__ = ["check", "measure", "places"]

Heads = Sequence[tuple[int, int]]  # (layer of the encoder, head), counted from 0
TURNED: list[Heads] = [
    [(0, 0)],
    [(0, 1)],
    [(1, 0)],
    [(1, 1)],
    [(1, 0), (1, 1)],
    [(0, 0), (0, 1), (1, 0), (1, 1)],
]


def places(pair: Pair) -> tuple[int, int, int]:
    """Where in the source *it* stands, the noun that it means, and the noun that it does not."""
    words = [word.lower() for word in pair.source]
    meant, other = (words.index(getattr(pair.features, role).lower()) for role in _roles(pair))
    return words.index("it"), meant, other


def _roles(pair: Pair) -> tuple[str, str]:
    """Of the two nouns of the main clause: the role of the one that *it* means, and the other."""
    meant = str(pair.features.reason_of)
    roles = [role for role in ("subject", "object", "place") if getattr(pair.features, role)]
    (other,) = (role for role in roles if role != meant)
    return meant, other


def removed(translator: Translator, groups: Sequence[Sequence[Pair]]) -> list[dict[str, Any]]:
    """For each head and each way to take it out: exact match on each group of pairs."""
    means = head_means(translator, [pair for group in groups for pair in group[::5]])
    rows = []
    for name, attention in attentions(translator.model).items():
        for head, mean in enumerate(means[name]):
            ways = {
                "off": switched_off(attention, head),
                "mean": replaced_by_mean(attention, head, mean),
                "equal": equal_weights(attention, head),
            }
            found = {way: _right(translator, groups, change) for way, change in ways.items()}
            rows.append({"attention": name, "head": head, **found})
    return rows


def _right(
    translator: Translator,
    groups: Sequence[Sequence[Pair]],
    change: AbstractContextManager[None],
) -> list[float]:
    with change:
        return [round(exact_match(translator, group)[0], 3) for group in groups]


def turned_to_the_other_noun(
    translator: Translator, pairs: Sequence[Pair], heads: Heads
) -> dict[str, Any]:
    """Shares of translations while the row of *it* is all on the noun that it does not mean.

    Returns:
        right: still right. other: as if *it* meant the other noun.
    """
    right = other = 0
    for pair in pairs:
        it, _, wrong = places(pair)
        with ExitStack() as stack:
            for n, layer in enumerate(translator.model.encoder.layers):
                own = [head for of, head in heads if of == n]
                stack.enter_context(turned(layer, own, it, wrong))
            written = translator.translate(" ".join(pair.source))
        as_if = render(replace(pair.features, reason_of=_roles(pair)[1]))
        right += written == " ".join(pair.target)
        other += written == " ".join(as_if.target)
    return {
        "heads": [list(head) for head in heads],
        "right": round(right / len(pairs), 3),
        "other": round(other / len(pairs), 3),
    }


def alignment_by_step(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Alignment accuracy and exact match of each stored checkpoint."""
    rows = []
    for step in STEPS:
        early = pretrained(step=step)
        alignment = _rounded(alignment_accuracy(early, pairs))
        right = round(exact_match(early, pairs)[0], 3)
        rows.append({"step": step, "alignment": alignment, "right": right})
    return rows


def _rounded(shares: dict[str, float]) -> dict[str, float]:
    return {name: round(share, 3) for name, share in shares.items()}


def measure(small: bool = False) -> dict[str, Any]:
    """On pairs that were held back; `pairs` counts those with *it*, some of the others, and all."""
    translator = pretrained()
    _, held_back = split_by_combination(list(sentences()), 0.1, Random(0))
    pronouns = [pair for pair in held_back if pair.features.reason is not None]
    others = [pair for pair in held_back if pair.features.reason is None]
    others = others[:: len(others) // len(pronouns)]
    if small:
        pronouns, others, held_back = pronouns[::30], others[::30], held_back[::100]
    return {
        "pairs": [len(pronouns), len(others), len(held_back)],
        "all heads": [round(exact_match(translator, group)[0], 3) for group in (pronouns, others)],
        "removed": removed(translator, (pronouns, others)),
        "turned": [turned_to_the_other_noun(translator, pronouns, heads) for heads in TURNED],
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
    turned = {str(row["heads"]): row for row in figures["turned"]}
    assert (
        turned["[[1, 0]]"]["right"]
        > 0.6
        > 0.25
        > turned[str(figures["turned"][-1]["heads"])]["right"]
    )
    assert turned["[[1, 0]]"]["other"] < 0.25
    steps = {row["step"]: row for row in figures["by step"]}
    assert steps[3000]["alignment"]["mean"] > 0.9 > 0.3 > max(figures["by position"].values())
    assert steps[300]["alignment"]["mean"] > 0.8 > steps[300]["right"]


if __name__ == "__main__":
    run_and_store("results_heads", measure)
