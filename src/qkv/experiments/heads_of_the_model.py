"""The heads of the model that ships: where they look from *it*, and what is wrong without each."""

from __future__ import annotations

from random import Random
from typing import Any

from qkv.corpus import sentences, split_by_combination
from qkv.experiments.stored_results import run_and_store
from qkv.pretrained import antecedent_attention, exact_match, pretrained
from qkv.translator.ablation import attentions, zero_ablation

__all__ = ["check", "measure"]


def measure(small: bool = False) -> dict[str, Any]:
    """On pairs that were held back: attention from *it*, and exact match without each head."""
    translator = pretrained()
    _, held_back = split_by_combination(list(sentences()), 0.1, Random(0))
    pronouns = [pair for pair in held_back if pair.features.reason is not None]
    others = [pair for pair in held_back if pair.features.reason is None]
    others = others[:: len(others) // len(pronouns)]
    if small:
        pronouns, others = pronouns[::20], others[::20]

    def right() -> list[float]:
        return [round(exact_match(translator, pairs)[0], 3) for pairs in (pronouns, others)]

    without = []
    for name, attention in attentions(translator.model).items():
        for head in (0, 1):
            with zero_ablation(attention, head):
                without.append({"attention": name, "head": head, "right": right()})
    last = attentions(translator.model)["encoder 1, self"]
    with zero_ablation(last, 0), zero_ablation(last, 1):
        without_both = right()
    return {
        "pairs": [len(pronouns), len(others)],
        "all heads": right(),
        "without": without,
        "without both heads of encoder 1": without_both,
        "it": {
            head: {name: round(share, 4) for name, share in shares.items()}
            for head, shares in antecedent_attention(translator, pronouns).items()
        },
    }


def check(figures: dict[str, Any]) -> None:
    """One head is always on the antecedent, and without it most pronouns are still right."""
    assert min(figures["all heads"]) > 0.95
    without = {(r["attention"], r["head"]): r["right"] for r in figures["without"]}
    assert figures["it"]["layer 1, head 0"]["antecedent"] > 0.95
    assert without["encoder 1, self", 0][0] > 0.8
    assert without["encoder 0, self", 1][0] > 0.9  # on the antecedent in most, and not needed
    assert figures["it"]["layer 0, head 1"]["antecedent"] > 0.5
    assert without["decoder 0, self", 1][0] < 0.6


if __name__ == "__main__":
    run_and_store("heads_of_the_model", measure)
