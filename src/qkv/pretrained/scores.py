"""Accuracy of a translator on the grammar: exact match, alignment and antecedents by attention."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from qkv.corpus import Pair
from qkv.translator import Translator

__all__ = [
    "POSITIONAL_BASELINES",
    "alignment_accuracy",
    "antecedent_attention",
    "exact_match",
    "positional_accuracy",
]

PRONOUN = "it"

# The source word, of S, that target word i, of T, is aligned with by its position alone.
POSITIONAL_BASELINES: dict[str, Callable[[int, int, int], int]] = {
    "same place": lambda i, T, S: min(i, S - 1),
    "from the end": lambda i, T, S: max(i + S - T, 0),
    "end to end": lambda i, T, S: round(i * (S - 1) / max(T - 1, 1)),
    "centre": lambda i, T, S: (2 * i + 1) * S // (2 * T),
    "last of its share": lambda i, T, S: -(-(i + 1) * S // T) - 1,
}


def exact_match(
    translator: Translator, pairs: Sequence[Pair], method: str = "greedy", **options: Any
) -> tuple[float, list[tuple[str, str, str]]]:
    """Exact match: the share of sentences translated word for word as the grammar does.

    Args:
        method, options: as `translate` takes them.
    Returns:
        The share, and (source, target, translation) of the others.
    Raises:
        ValueError: there are no pairs.
    """
    _check("exact_match", pairs)
    sources = [" ".join(pair.source) for pair in pairs]
    targets = [" ".join(pair.target) for pair in pairs]
    translations = translator.translate(sources, method, **options)
    triples = zip(sources, targets, translations, strict=True)
    wrong = [triple for triple in triples if triple[1] != triple[2]]
    return 1 - len(wrong) / len(pairs), wrong


def alignment_accuracy(translator: Translator, pairs: Sequence[Pair]) -> dict[str, float]:
    """Alignment accuracy: how often cross-attention is largest on a word aligned with the target.

    The decoder is made to predict the right translation. A target word counts as right where the
    largest weight of its row is on a source word aligned with it; on <eos> or an article it is
    wrong. The <eos> of the target is aligned with nothing and left out.

    Returns:
        A share of the target words for each head, such as "layer 0, head 1", and for "mean", the
        weights averaged over all heads of all layers.
    Raises:
        ValueError: there are no pairs.
    """
    _check("alignment_accuracy", pairs)
    correct: dict[str, int] = {}
    for pair in pairs:
        maps = translator.attention(" ".join(pair.source), " ".join(pair.target))
        weights = maps.stack("cross")  # (L, H, T, S)
        heads = {"mean": weights.mean((0, 1))}
        for layer, head in np.ndindex(weights.shape[:2]):
            heads[f"layer {layer}, head {head}"] = weights[layer, head]
        for name, map_ in heads.items():
            hits = sum((i, int(j)) in pair.alignment for i, j in enumerate(map_.argmax(-1)))
            correct[name] = correct.get(name, 0) + hits
    words = sum(len(pair.target) for pair in pairs)
    return {name: count / words for name, count in correct.items()}


def positional_accuracy(pairs: Sequence[Pair]) -> dict[str, float]:
    """Alignment accuracy of the positional baselines: alignment by position, without a model.

    Returns:
        A share of the target words for each of `POSITIONAL_BASELINES`; the best is the one to beat.
    Raises:
        ValueError: there are no pairs.
    """
    _check("positional_accuracy", pairs)
    words = sum(len(pair.target) for pair in pairs)
    return {
        name: sum(
            (i, position(i, len(pair.target), len(pair.source))) in pair.alignment
            for pair in pairs
            for i in range(len(pair.target))
        )
        / words
        for name, position in POSITIONAL_BASELINES.items()
    }


def antecedent_attention(
    translator: Translator, pairs: Sequence[Pair]
) -> dict[str, dict[str, float]]:
    """Where each encoder head attends to from *it*: the noun that it means, or another word.

    In "The dog did not cross the street because it was tired", *it* means the dog, its antecedent.
    For each head, the largest weight of the row of *it* is taken, that on *it* itself left out. It
    is counted by the word that it is on: "antecedent", the noun that is meant; "other noun", the
    one of the main clause that is not; "adjective", which decides between them; "rest", any other
    word and <eos>. Pairs without a reason are passed over.

    It tells where a head looks, and not what the model uses: another head, a later layer or the
    decoder may do the work.

    Of the model that ships, on the 717 such pairs held back: layer 1, head 0 is on the antecedent
    in each of them; layer 0, head 0 on the adjective in 77%. Trained with seed 0, a model that
    translates these pairs as well has no head that is on the antecedent in any: there, the decoder
    looks at "because" where it repeats the noun.

    Returns:
        For each head, such as "layer 0, head 1", the four shares of the sentences, which sum to 1.
    Raises:
        ValueError: no pair has a reason.
    """
    pairs = [pair for pair in pairs if pair.features.reason is not None]
    if not pairs:
        raise ValueError(
            "antecedent_attention: pairs must hold at least one with a reason, got none: "
            "`features.reason` tells"
        )
    counts: dict[str, dict[str, int]] = {}
    for pair in pairs:
        words, pronoun = _words_of_reason(pair)
        maps = translator.attention(" ".join(pair.source), " ".join(pair.target))
        weights = maps.stack("encoder")[:, :, pronoun].copy()  # (L, H, S)
        weights[:, :, pronoun] = -1
        for layer, head in np.ndindex(weights.shape[:2]):
            at = counts.setdefault(
                f"layer {layer}, head {head}", dict.fromkeys((*words, "rest"), 0)
            )
            best = int(weights[layer, head].argmax())
            at[next((name for name, place in words.items() if place == best), "rest")] += 1
    return {
        head: {name: count / len(pairs) for name, count in found.items()}
        for head, found in counts.items()
    }


def _words_of_reason(pair: Pair) -> tuple[dict[str, int], int]:
    """Places in the source of the words that a reason is about, and of *it*."""
    source, features = [word.lower() for word in pair.source], pair.features
    nouns = {
        role: source.index(noun.lower())
        for role in ("subject", "object", "place")
        if (noun := getattr(features, role)) is not None
    }
    antecedent = nouns.pop(str(features.reason_of))
    (other,) = nouns.values()
    words = {"antecedent": antecedent, "other noun": other, "adjective": len(source) - 1}
    return words, source.index(PRONOUN)


def _check(call: str, pairs: Sequence[Pair]) -> None:
    if not pairs:
        raise ValueError(f"{call}: pairs must hold at least one pair, got none")
