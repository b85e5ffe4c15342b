"""How well a translator knows the grammar: what it says, and which word it looks at to say it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from qkv.corpus import Pair
from qkv.translator import Translator

__all__ = ["DIAGONALS", "alignment_accuracy", "diagonal_accuracy", "exact_match"]

# Where word i of T would come from among S words, if both languages had the same order.
DIAGONALS: dict[str, Callable[[int, int, int], int]] = {
    "same place": lambda i, T, S: min(i, S - 1),
    "from the end": lambda i, T, S: max(i + S - T, 0),
    "end to end": lambda i, T, S: round(i * (S - 1) / max(T - 1, 1)),
    "centre": lambda i, T, S: (2 * i + 1) * S // (2 * T),
    "last of its share": lambda i, T, S: -(-(i + 1) * S // T) - 1,
}


def exact_match(
    translator: Translator, pairs: Sequence[Pair], method: str = "greedy", **options: Any
) -> tuple[float, list[tuple[str, str, str]]]:
    """The share of sentences that are translated word for word as the grammar says.

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
    said = translator.translate(sources, method, **options)
    wrong = [found for found in zip(sources, targets, said, strict=True) if found[1] != found[2]]
    return 1 - len(wrong) / len(pairs), wrong


def alignment_accuracy(translator: Translator, pairs: Sequence[Pair]) -> dict[str, float]:
    """How often the decoder looks most at the word that it is about to say in the other language.

    The decoder is made to say the right translation. A look counts where the largest weight of the
    row that says a target word is on a source word aligned with it; on <eos> or an article it is
    wrong. The <eos> of the target is aligned with nothing and left out.

    Returns:
        A share of the target words for each head, such as "layer 0, head 1", and for "mean", the
        weights averaged over all heads of all layers.
    Raises:
        ValueError: there are no pairs.
    """
    _check("alignment_accuracy", pairs)
    right: dict[str, int] = {}
    for pair in pairs:
        looks = translator.attention(" ".join(pair.source), " ".join(pair.target))
        weights = looks.of("cross")  # (L, H, T, S)
        views = {"mean": weights.mean((0, 1))}
        for layer, head in np.ndindex(weights.shape[:2]):
            views[f"layer {layer}, head {head}"] = weights[layer, head]
        for name, view in views.items():
            hits = sum((i, int(j)) in pair.alignment for i, j in enumerate(view.argmax(-1)))
            right[name] = right.get(name, 0) + hits
    words = sum(len(pair.target) for pair in pairs)
    return {name: count / words for name, count in right.items()}


def diagonal_accuracy(pairs: Sequence[Pair]) -> dict[str, float]:
    """What `alignment_accuracy` would be of a model that looks along the diagonal.

    Returns:
        A share of the target words for each of `DIAGONALS`; the largest is the one to beat.
    Raises:
        ValueError: there are no pairs.
    """
    _check("diagonal_accuracy", pairs)
    words = sum(len(pair.target) for pair in pairs)
    return {
        name: sum(
            (i, place(i, len(pair.target), len(pair.source))) in pair.alignment
            for pair in pairs
            for i in range(len(pair.target))
        )
        / words
        for name, place in DIAGONALS.items()
    }


def _check(call: str, pairs: Sequence[Pair]) -> None:
    if not pairs:
        raise ValueError(f"{call}: pairs must hold at least one pair, got none")
